import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Account, findAccount, type World } from './world/world.ts'

/**
 * The key that signs tokens. Public on purpose: the tokens open nothing but the sandbox, and must stay valid after a
 * reset.
 */
const KEY = 'steam-sandbox: not a secret'
const REFRESH_LIFE_S = 200 * 86_400
const ACCESS_LIFE_S = 86_400

/** A token is for the website or for the mobile app. Tokens of the app can be renewed without a password. */
export type Platform = 'web' | 'mobile'

type Claims = { iss: string; sub: string; aud: string[]; exp: number; jti: string; gen?: number }

export function refreshTokenOf(account: Account, nowS: number, platform: Platform = 'web'): string {
  return sign({
    iss: 'steam',
    sub: account.steamId,
    aud: [...(platform === 'mobile' ? ['web', 'mobile'] : ['web']), 'renew', 'derive'],
    exp: nowS + REFRESH_LIFE_S,
    jti: '',
    gen: account.loginGeneration,
  })
}

/**
 * Makes an access token for one audience, such as `web:community`. A token of the mobile app serves the website too.
 */
export function accessTokenOf(account: Account, audience: string, nowS: number): string {
  return sign({
    iss: 'r:sandbox',
    sub: account.steamId,
    aud: audience === 'mobile' ? ['web', 'web:community', 'mobile'] : [audience],
    exp: nowS + ACCESS_LIFE_S,
    jti: '',
    gen: account.sessionGeneration,
  })
}

/** The part of the sandbox that is needed to find the account of a token. */
type ClockAndWorld = { nowS(): number; world(): World }

/** Returns the account of a refresh token; undefined if it is forged, expired, revoked or of another platform. */
export function loginOf(token: string, sandbox: ClockAndWorld, platform?: Platform): Account | undefined {
  const claims = claimsOf(token, 'derive', sandbox.nowS())
  const account = claims && findAccount(sandbox.world(), claims.sub)
  if (!account || (claims.gen ?? 0) !== account.loginGeneration) return undefined
  const isMobile = claims.aud.includes('mobile')
  return platform === undefined || (platform === 'mobile') === isMobile ? account : undefined
}

/** Returns the Steam id of an access token; undefined if it is forged, expired, revoked or for another audience. */
export function callerOf(token: string, audience: string, sandbox: ClockAndWorld): string | undefined {
  const claims = claimsOf(token, audience, sandbox.nowS())
  const account = claims && findAccount(sandbox.world(), claims.sub)
  return account && (claims.gen ?? 0) === account.sessionGeneration ? account.steamId : undefined
}

function claimsOf(token: string, audience: string, nowS: number): Claims | undefined {
  const [head, body, signature] = token.split('.')
  if (!head || !body || !signature) return undefined
  const expected = Buffer.from(mac(`${head}.${body}`))
  const given = Buffer.from(signature)
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
  const claims: Claims = JSON.parse(Buffer.from(body, 'base64url').toString())
  return claims.exp > nowS && claims.aud.includes(audience) ? claims : undefined
}

function sign(claims: Claims): string {
  const jti = createHmac('sha256', KEY).update(JSON.stringify(claims)).digest('hex').slice(0, 24)
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const unsigned = `${part({ typ: 'JWT', alg: 'HS256' })}.${part({ ...claims, jti })}`
  return `${unsigned}.${mac(unsigned)}`
}

function mac(value: string): string {
  return createHmac('sha256', KEY).update(value).digest('base64url')
}
