import {
  constants,
  generateKeyPairSync,
  type KeyObject,
  privateDecrypt,
  randomBytes,
  randomInt,
} from 'node:crypto'
import { credentialsOf, isCodeOf } from '../credentials.ts'
import { type Incoming, json, type Reply } from '../http.ts'
import { decode, encode, type Message } from '../protobuf.ts'
import type { PendingLogin, Sandbox } from '../sandbox.ts'
import { accessTokenOf, loginOf, type Platform, refreshTokenOf } from '../tokens.ts'
import { type Account, findAccount } from '../world/world.ts'

const RESULT = { ok: 1, invalidParam: 8, invalidPassword: 5, accessDenied: 15, expired: 27, codeMismatch: 88 }
/** Steam's numbers: two ways to approve a login, and the platform of the mobile app. */
const DEVICE_CODE = 3n
const DEVICE_CONFIRMATION = 4n
const MOBILE_PLATFORM = 3n
const POLL_EVERY_S = 1
/** The most unfinished logins to keep. The oldest is dropped. */
const MOST_LOGINS = 100

type Method = (message: Message, sandbox: Sandbox) => Reply

const METHODS: Record<string, Method> = {
  'GET GetPasswordRSAPublicKey': publicKey,
  'POST BeginAuthSessionViaCredentials': beginWithPassword,
  'POST BeginAuthSessionViaQR': beginWithQr,
  'POST UpdateAuthSessionWithSteamGuardCode': takeCode,
  'POST PollAuthSessionStatus': poll,
  'POST GenerateAccessTokenForApp': accessToken,
}

/**
 * Serves the two ways to obtain a refresh token (password and authenticator code, or a QR code that the phone
 * approves), access tokens, and Steam's time. The numbers of fields are those of Steam's protocol buffers.
 */
export function enrolment(request: Incoming, sandbox: Sandbox): Reply | undefined {
  if (request.host !== 'api.steampowered.com') return undefined
  if (request.path === '/ITwoFactorService/QueryTime/v1/') {
    return json({ response: { server_time: String(sandbox.clockS()) } })
  }
  const name = /^\/IAuthenticationService\/(\w+)\/v1\/$/.exec(request.path)?.[1]
  const method = METHODS[`${request.method} ${name}`]
  if (!method) return undefined
  const encoded =
    request.query.get('input_protobuf_encoded') ?? request.form.get('input_protobuf_encoded') ?? ''
  const message = decode(Buffer.from(encoded, 'base64'))
  return message ? method(message, sandbox) : answer([], RESULT.invalidParam)
}

function answer(fields: Parameters<typeof encode>[0], eresult = RESULT.ok): Reply {
  const headers = { 'content-type': 'application/octet-stream', 'x-eresult': String(eresult) }
  return { status: 200, headers, body: encode(fields) }
}

let keys: { privateKey: KeyObject; publicKey: KeyObject } | undefined

/** Created when first needed, because most runs have no login with a password. */
function keyPair() {
  keys ??= generateKeyPairSync('rsa', { modulusLength: 2048 })
  return keys
}

function publicKey(_: Message, sandbox: Sandbox): Reply {
  const { n = '', e = '' } = keyPair().publicKey.export({ format: 'jwk' })
  const hex = (part: string) => Buffer.from(part, 'base64url').toString('hex')
  return answer([
    [1, hex(n)],
    [2, hex(e)],
    [3, BigInt(sandbox.clockS())],
  ])
}

function beginWithPassword(message: Message, sandbox: Sandbox): Reply {
  const account = sandbox
    .world()
    .accounts.find((other) => credentialsOf(other).accountName === message.text(2))
  const password = decrypt(message.text(3))
  if (!account || password !== credentialsOf(account).password) return answer([], RESULT.invalidPassword)
  const { clientId, requestId } = begin(sandbox, message.bytes(9), account.steamId)
  return answer([
    [1, clientId],
    [2, requestId],
    [3, { float: POLL_EVERY_S }],
    [4, encode([[1, DEVICE_CODE]])],
    [5, BigInt(account.steamId)],
  ])
}

function decrypt(base64: string): string | undefined {
  try {
    const padding = constants.RSA_PKCS1_PADDING
    return privateDecrypt({ key: keyPair().privateKey, padding }, Buffer.from(base64, 'base64')).toString()
  } catch {
    return undefined
  }
}

function beginWithQr(message: Message, sandbox: Sandbox): Reply {
  const { clientId, requestId } = begin(sandbox, message.bytes(3))
  return answer([
    [1, clientId],
    [2, addressOf(clientId)],
    [3, requestId],
    [4, { float: POLL_EVERY_S }],
    [5, encode([[1, DEVICE_CONFIRMATION]])],
    [6, 1n],
  ])
}

/** The address in a QR code. */
const addressOf = (clientId: bigint): string => `https://s.team/q/1/${clientId}`

/** The range of `randomInt` must be smaller than 2 ** 48. */
const newClientId = (): bigint => BigInt(randomInt(1, 2 ** 47))

function begin(
  { logins }: Sandbox,
  device: Buffer,
  steamId?: string,
): { clientId: bigint; requestId: Buffer } {
  const clientId = newClientId()
  const requestId = randomBytes(16)
  const isMobile = decode(device)?.number(2) === MOBILE_PLATFORM
  const person = steamId === undefined ? {} : { steamId }
  keep(logins, clientId, {
    requestId: requestId.toString('hex'),
    platform: isMobile ? 'mobile' : 'web',
    isApproved: false,
    ...person,
  })
  return { clientId, requestId }
}

function keep(logins: Sandbox['logins'], clientId: bigint, login: PendingLogin): void {
  logins.set(String(clientId), login)
  const [oldest = ''] = logins.keys()
  if (logins.size > MOST_LOGINS) logins.delete(oldest)
}

function takeCode(message: Message, sandbox: Sandbox): Reply {
  const pending = sandbox.logins.get(String(message.number(1)))
  const account = findAccount(sandbox.world(), pending?.steamId ?? '')
  if (!pending || !account) return answer([], RESULT.expired)
  const { sharedSecret } = credentialsOf(account)
  // Codes follow the phone's clock, which does not advance with the sandbox's.
  if (!isCodeOf(sharedSecret, message.text(3).toUpperCase(), sandbox.clockS())) {
    return answer([], RESULT.codeMismatch)
  }
  pending.isApproved = true
  return answer([])
}

function poll(message: Message, sandbox: Sandbox): Reply {
  const clientId = String(message.number(1))
  const pending = sandbox.logins.get(clientId)
  if (!pending || pending.requestId !== message.bytes(2).toString('hex')) return answer([], RESULT.expired)
  const { nextId } = pending
  if (nextId !== undefined) {
    return answer([
      [1, nextId],
      [2, addressOf(nextId)],
      [5, 0n],
    ])
  }
  const account = findAccount(sandbox.world(), pending.steamId ?? '')
  if (!pending.isApproved || !account) return answer([[5, 0n]])
  sandbox.logins.delete(clientId)
  return answer([
    [3, refreshTokenOf(account, sandbox.nowS(), pending.platform)],
    [4, accessTokenOf(account, audienceOf(pending.platform), sandbox.nowS())],
    [5, 1n],
    [6, credentialsOf(account).accountName],
  ])
}

function audienceOf(platform: Platform): string {
  return platform === 'mobile' ? 'mobile' : 'web:community'
}

/** Only refresh tokens of the mobile app can be exchanged for an access token directly. */
function accessToken(message: Message, sandbox: Sandbox): Reply {
  const account = loginOf(message.text(1), sandbox, 'mobile')
  if (!account || account.steamId !== String(message.number(2))) return answer([], RESULT.accessDenied)
  const renewed: [number, string][] =
    message.number(3) === 1n ? [[2, refreshTokenOf(account, sandbox.nowS(), 'mobile')]] : []
  return answer([[1, accessTokenOf(account, 'mobile', sandbox.nowS())], ...renewed])
}

/**
 * Replaces the QR code of a login, so no phone can approve the old one. Returns false for an unknown login, or one
 * whose code was replaced before.
 */
export function replaceQrCode({ logins }: Sandbox, clientId: string): boolean {
  const pending = logins.get(clientId)
  if (!pending || pending.nextId !== undefined) return false
  const nextId = newClientId()
  keep(logins, nextId, { ...pending })
  pending.nextId = nextId
  return true
}

/**
 * Approves a login by QR code, as the phone of this account. Returns false for an unknown login, one whose code was
 * replaced, or one that belongs to another account.
 */
export function approveLogin({ logins }: Sandbox, clientId: string, account: Account): boolean {
  const pending = logins.get(clientId)
  if (!pending || pending.nextId !== undefined) return false
  if (pending.steamId !== undefined && pending.steamId !== account.steamId) return false
  pending.steamId = account.steamId
  pending.isApproved = true
  return true
}
