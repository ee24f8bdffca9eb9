import { type Incoming, json, type Reply, redirect, text } from '../http.ts'
import type { Sandbox } from '../sandbox.ts'
import { memberSince } from '../world/member-since.ts'
import { traitsOf } from '../world/people.ts'
import { type Account, findAccount } from '../world/world.ts'
import { partnerInventory, publicInventory } from './inventory.ts'
import { sessionOf } from './login.ts'
import { priceOverview } from './market.ts'
import { mobileconf } from './mobileconf.ts'
import { ownInventory } from './own.ts'
import { tradePage } from './trade-page.ts'
import { write } from './writes.ts'

/** The website steamcommunity.com: the parts that programs use. */
export function community(asked: Incoming, sandbox: Sandbox): Reply | undefined {
  if (asked.host !== 'steamcommunity.com') return undefined
  const request = atNumber(asked, sandbox)
  const moved = request === asked ? toChosenAddress(request, sandbox) : undefined
  if (moved) return moved
  const reply =
    publicInventory(request, sandbox) ??
    shortProfile(request, sandbox) ??
    profilePage(request, sandbox) ??
    priceOverview(request, sandbox) ??
    loginPage(request) ??
    mobileconf(request, sandbox)
  if (reply) return reply
  const steamId = sessionOf(request, sandbox)
  if (!steamId) {
    return request.method === 'POST' ? json(null, 401) : redirect('https://steamcommunity.com/login/home/')
  }
  if (request.method !== 'POST') return read(request, sandbox, steamId)
  const refused = sandbox.quotas.refuse(request, steamId)
  return refused ?? write(request, sandbox, steamId)
}

/** Leads from an account's number to the address that its owner chose, for every page of the profile. */
function toChosenAddress({ method, path, query }: Incoming, sandbox: Sandbox): Reply | undefined {
  const [, steamId = '', rest = '/'] = /^\/profiles\/(\d+)(\/.*)?$/.exec(path) ?? []
  const address = findAccount(sandbox.world(), steamId)?.address
  if (method !== 'GET' || address === undefined) return undefined
  return redirect(`https://steamcommunity.com/id/${address}${rest}${query.size > 0 ? `?${query}` : ''}`)
}

/** The request with the account's number instead of the address that its owner chose. */
function atNumber(request: Incoming, sandbox: Sandbox): Incoming {
  const [, address, rest = '/'] = /^\/id\/([\w-]+)(\/.*)?$/.exec(request.path) ?? []
  if (address === undefined) return request
  const account = sandbox.world().accounts.find((other) => other.address === address)
  return account ? { ...request, path: `/profiles/${account.steamId}${rest}` } : request
}

function read(request: Incoming, sandbox: Sandbox, steamId: string): Reply | undefined {
  if (request.path === '/tradeoffer/new/partnerinventory/') return partnerInventory(request, sandbox, steamId)
  if (request.path === '/tradeoffer/new/') return tradePage(request, sandbox, steamId)
  return ownInventory(request, sandbox, steamId)
}

function loginPage({ path }: Incoming): Reply | undefined {
  if (!path.startsWith('/login/home')) return undefined
  return text(
    '<html><head><title>Sign In</title></head><body><script>g_steamID = false;</script></body></html>',
  )
}

function shortProfile(request: Incoming, sandbox: Sandbox): Reply | undefined {
  const [, accountId] = /^\/miniprofile\/(\d+)\/json\/?$/.exec(request.path) ?? []
  if (accountId === undefined) return undefined
  const refused = sandbox.quotas.refuse(request)
  if (refused) return refused
  const account = sandbox.world().accounts.find((each) => String(each.accountId) === accountId)
  return json(account ? miniProfile(account) : { level: 0, persona_name: '', avatar_url: '' })
}

function profilePage(request: Incoming, sandbox: Sandbox): Reply | undefined {
  const [, steamId] = /^\/profiles\/(\d+)\/?$/.exec(request.path) ?? []
  if (steamId === undefined || request.query.get('xml') !== '1') return undefined
  const refused = sandbox.quotas.refuse(request)
  if (refused) return refused
  const world = sandbox.world()
  const account = findAccount(world, steamId)
  if (!account) return text(NO_PROFILE, 'text/xml')
  const { inventory, cannotTrade } = traitsOf(world, account)
  const shown = {
    isPrivate: inventory === 'hidden',
    isBanned: cannotTrade === 'trade_ban',
    isLimited: cannotTrade === 'limited_account',
  }
  return text(profileXml(account, shown), 'text/xml')
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
const NO_PROFILE = `${XML}<response><error><![CDATA[The specified profile could not be found.]]></error></response>`

function miniProfile({ level, name, avatarHash }: Account) {
  const avatar = `https://avatars.steamstatic.com/${avatarHash}_medium.jpg`
  return { level, level_class: 'friendPlayerLevel', avatar_url: avatar, persona_name: name }
}

function cdata(value: string): string {
  return `<![CDATA[${value.replaceAll(']]>', ']]]]><![CDATA[>')}]]>`
}

type ProfileFlags = { isPrivate: boolean; isBanned: boolean; isLimited: boolean }

function profileXml(account: Account, { isPrivate, isBanned, isLimited }: ProfileFlags): string {
  const { steamId, name, avatarHash } = account
  const joined = isPrivate ? undefined : memberSince(account)
  const avatar = `https://avatars.steamstatic.com/${avatarHash}`
  return `${XML}<profile><steamID64>${steamId}</steamID64><steamID>${cdata(name)}</steamID>
<onlineState>${isPrivate ? 'offline' : 'online'}</onlineState><stateMessage><![CDATA[${isPrivate ? 'Offline' : 'Online'}]]></stateMessage>
<privacyState>${isPrivate ? 'private' : 'public'}</privacyState><visibilityState>${isPrivate ? 1 : 3}</visibilityState>
<avatarIcon><![CDATA[${avatar}.jpg]]></avatarIcon><avatarMedium><![CDATA[${avatar}_medium.jpg]]></avatarMedium>
<avatarFull><![CDATA[${avatar}_full.jpg]]></avatarFull><vacBanned>0</vacBanned>
<tradeBanState>${isBanned ? 'Banned' : 'None'}</tradeBanState><isLimitedAccount>${isLimited ? 1 : 0}</isLimitedAccount>${joined === undefined ? '' : `\n<memberSince>${cdata(joined)}</memberSince>`}</profile>`
}
