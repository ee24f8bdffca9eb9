import { type Incoming, json, type Reply, type Sandbox } from '../exchange.ts'
import { accessTokenOf, accountOf } from '../tokens.ts'
import { findAccount } from '../world.ts'

const AUDIENCES: Record<string, string> = {
  'store.steampowered.com': 'web:store',
  'help.steampowered.com': 'web:help',
  'checkout.steampowered.com': 'web:checkout',
  'steamcommunity.com': 'web:community',
}

/** The login of websites: a refresh token becomes one cookie for each host. */
export function login(request: Incoming, sandbox: Sandbox): Reply | undefined {
  if (request.method !== 'POST') return undefined
  if (request.host === 'login.steampowered.com' && request.path === '/jwt/finalizelogin') {
    return finalize(request, sandbox)
  }
  const audience = AUDIENCES[request.host]
  if (audience && request.path === '/login/settoken') return setToken(request, sandbox, audience)
  return undefined
}

function finalize(request: Incoming, sandbox: Sandbox): Reply {
  const steamId = accountOf(request.form.get('nonce') ?? '', 'derive', sandbox.nowS())
  if (!steamId || !findAccount(sandbox.world(), steamId)) return json({ error: 15 })
  const transfers = Object.keys(AUDIENCES).map((host) => ({
    url: `https://${host}/login/settoken`,
    params: { nonce: 'sandbox', auth: accessTokenOf(steamId, `transfer:${host}`, sandbox.nowS()) },
  }))
  const cookie = 'steamRefresh_steam=sandbox; Path=/; Secure; HttpOnly; SameSite=None'
  return json({ steamID: steamId, redir: '', transfer_info: transfers }, 200, { 'set-cookie': cookie })
}

function setToken(request: Incoming, sandbox: Sandbox, audience: string): Reply {
  const steamId = accountOf(request.form.get('auth') ?? '', `transfer:${request.host}`, sandbox.nowS())
  if (!steamId || steamId !== request.form.get('steamID')) return json({ result: 8 })
  const token = accessTokenOf(steamId, audience, sandbox.nowS())
  const cookie = `steamLoginSecure=${steamId}%7C%7C${token}; Path=/; Secure; HttpOnly; SameSite=None`
  return json({ result: 1 }, 200, { 'set-cookie': cookie })
}

/** Who speaks on steamcommunity.com, by the cookie of that host. */
export function sessionOf(request: Incoming, sandbox: Sandbox): string | undefined {
  const value = decodeURIComponent(request.cookies.get('steamLoginSecure') ?? '')
  const [claimed, token] = value.split('||')
  const steamId = accountOf(token ?? '', 'web:community', sandbox.nowS())
  return steamId && steamId === claimed && findAccount(sandbox.world(), steamId) ? steamId : undefined
}
