import { type Incoming, json, type Reply } from '../http.ts'
import type { Sandbox } from '../sandbox.ts'
import { accessTokenOf, callerOf, loginOf } from '../tokens.ts'
import { findAccount } from '../world/world.ts'

const AUDIENCES: Record<string, string> = {
  'store.steampowered.com': 'web:store',
  'help.steampowered.com': 'web:help',
  'checkout.steampowered.com': 'web:checkout',
  'steamcommunity.com': 'web:community',
}

/** The login to Steam's websites: exchanges a refresh token for one cookie per host. */
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
  const account = loginOf(request.form.get('nonce') ?? '', sandbox)
  const refused = sandbox.quotas.refuse(request, account?.steamId)
  if (refused) return refused
  if (!account) return json({ error: 15 })
  const transfers = Object.keys(AUDIENCES).map((host) => ({
    url: `https://${host}/login/settoken`,
    params: { nonce: 'sandbox', auth: accessTokenOf(account, `transfer:${host}`, sandbox.nowS()) },
  }))
  const cookie = 'steamRefresh_steam=sandbox; Path=/; Secure; HttpOnly; SameSite=None'
  return json({ steamID: account.steamId, redir: '', transfer_info: transfers }, 200, {
    'set-cookie': cookie,
  })
}

function setToken(request: Incoming, sandbox: Sandbox, audience: string): Reply {
  const steamId = callerOf(request.form.get('auth') ?? '', `transfer:${request.host}`, sandbox)
  const account = findAccount(sandbox.world(), steamId ?? '')
  if (!account || steamId !== request.form.get('steamID')) return json({ result: 8 })
  const token = accessTokenOf(account, audience, sandbox.nowS())
  const cookie = `steamLoginSecure=${steamId}%7C%7C${token}; Path=/; Secure; HttpOnly; SameSite=None`
  return json({ result: 1 }, 200, { 'set-cookie': cookie })
}

/** Returns the Steam id of the caller, read from the cookie of steamcommunity.com. */
export function sessionOf(request: Incoming, sandbox: Sandbox): string | undefined {
  const [claimed, token] = cookieText(request.cookies.get('steamLoginSecure') ?? '').split('||')
  const steamId = callerOf(token ?? '', 'web:community', sandbox)
  return steamId !== undefined && steamId === claimed ? steamId : undefined
}

/** Returns the Steam id of the caller, if the session is one of the mobile app. */
export function mobileSessionOf(request: Incoming, sandbox: Sandbox): string | undefined {
  const steamId = sessionOf(request, sandbox)
  const [, token] = cookieText(request.cookies.get('steamLoginSecure') ?? '').split('||')
  return steamId !== undefined && callerOf(token ?? '', 'mobile', sandbox) === steamId ? steamId : undefined
}

function cookieText(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return ''
  }
}
