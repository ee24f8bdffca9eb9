import { createHmac, timingSafeEqual } from 'node:crypto'

/** Known to all: tokens of the sandbox open nothing but the sandbox, and must outlive its resets. */
const KEY = 'steam-sandbox: not a secret'
const REFRESH_LIFE_S = 200 * 86_400
const ACCESS_LIFE_S = 86_400

type Claims = { iss: string; sub: string; aud: string[]; exp: number; jti: string }

/** A refresh token of the web kind for an account. */
export function refreshTokenOf(steamId: string, nowS: number): string {
  return sign({
    iss: 'steam',
    sub: steamId,
    aud: ['web', 'renew', 'derive'],
    exp: nowS + REFRESH_LIFE_S,
    jti: '',
  })
}

/** An access token for one audience, such as `web:community`. */
export function accessTokenOf(steamId: string, audience: string, nowS: number): string {
  return sign({ iss: 'r:sandbox', sub: steamId, aud: [audience], exp: nowS + ACCESS_LIFE_S, jti: '' })
}

/** The account that a token speaks for, if it is ours, still valid and made for this audience. */
export function accountOf(token: string, audience: string, nowS: number): string | undefined {
  const [head, body, signature] = token.split('.')
  if (!head || !body || !signature) return undefined
  const expected = Buffer.from(mac(`${head}.${body}`))
  const given = Buffer.from(signature)
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
  const claims: Claims = JSON.parse(Buffer.from(body, 'base64url').toString())
  return claims.exp > nowS && claims.aud.includes(audience) ? claims.sub : undefined
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
