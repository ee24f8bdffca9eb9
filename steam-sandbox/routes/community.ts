import { type Incoming, json, type Reply, redirect, type Sandbox, text } from '../exchange.ts'
import { escapeHtml } from '../pages/html.ts'
import { type Account, acceptOffer, endOffer, findAccount, sendOffer, type Wanted } from '../world.ts'
import { partnerInventory, publicInventory } from './inventory.ts'
import { sessionOf } from './login.ts'

/** The website steamcommunity.com, as far as programs use it. */
export function community(request: Incoming, sandbox: Sandbox): Reply | undefined {
  if (request.host !== 'steamcommunity.com') return undefined
  const open = publicInventory(request, sandbox) ?? profile(request, sandbox) ?? loginPage(request)
  if (open) return open
  const steamId = sessionOf(request, sandbox)
  if (!steamId) {
    return request.method === 'POST' ? json(null, 401) : redirect('https://steamcommunity.com/login/home/')
  }
  return request.method === 'POST' ? write(request, sandbox, steamId) : read(request, sandbox, steamId)
}

function loginPage({ path }: Incoming): Reply | undefined {
  if (!path.startsWith('/login/home')) return undefined
  return text(
    '<html><head><title>Sign In</title></head><body><script>g_steamID = false;</script></body></html>',
  )
}

function profile({ path, query }: Incoming, sandbox: Sandbox): Reply | undefined {
  const { accounts } = sandbox.world()
  const mini = /^\/miniprofile\/(\d+)\/json\/?$/.exec(path)
  if (mini) {
    const account = accounts.find(({ accountId }) => String(accountId) === mini[1])
    return json(account ? miniProfile(account) : { level: 0, persona_name: '', avatar_url: '' })
  }
  const page = /^\/profiles\/(\d+)\/?$/.exec(path)
  if (!page || query.get('xml') !== '1') return undefined
  const account = findAccount(sandbox.world(), page[1] ?? '')
  return text(account ? profileXml(account) : NO_PROFILE, 'text/xml')
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
const NO_PROFILE = `${XML}<response><error><![CDATA[The specified profile could not be found.]]></error></response>`

function miniProfile({ level, name, avatarHash }: Account) {
  const avatar = `https://avatars.steamstatic.com/${avatarHash}_medium.jpg`
  return { level, level_class: 'friendPlayerLevel', avatar_url: avatar, persona_name: name }
}

function profileXml({ steamId, name, avatarHash }: Account): string {
  const avatar = `https://avatars.steamstatic.com/${avatarHash}`
  return `${XML}<profile><steamID64>${steamId}</steamID64><steamID><![CDATA[${name}]]></steamID>
<onlineState>online</onlineState><stateMessage><![CDATA[Online]]></stateMessage>
<privacyState>public</privacyState><visibilityState>3</visibilityState>
<avatarIcon><![CDATA[${avatar}.jpg]]></avatarIcon><avatarMedium><![CDATA[${avatar}_medium.jpg]]></avatarMedium>
<avatarFull><![CDATA[${avatar}_full.jpg]]></avatarFull><vacBanned>0</vacBanned>
<tradeBanState>None</tradeBanState><isLimitedAccount>0</isLimitedAccount></profile>`
}

function read(request: Incoming, sandbox: Sandbox, steamId: string): Reply | undefined {
  if (request.path === '/tradeoffer/new/partnerinventory/') return partnerInventory(request, sandbox)
  if (request.path === '/tradeoffer/new/') return tradePage(request, sandbox, steamId)
  return undefined
}

function tradePage({ query }: Incoming, sandbox: Sandbox, steamId: string): Reply {
  const { accounts } = sandbox.world()
  const partner = accounts.find(({ accountId }) => String(accountId) === query.get('partner'))
  const me = findAccount(sandbox.world(), steamId)
  if (!partner || !me || partner.token !== query.get('token')) {
    const problem = partner
      ? `This Trade URL is no longer valid for sending a trade offer to ${partner.name}.`
      : 'Trade Offers can only be sent to friends.'
    return text(`<html><body><div id="error_msg">${escapeHtml(problem)}</div></body></html>`)
  }
  const images = [me, partner].map(
    ({ accountId, avatarHash }) =>
      `<img src="https://avatars.steamstatic.com/${avatarHash}.jpg" data-miniprofile="${accountId}">`,
  )
  return text(`<html><body>${images.join('')}
\t<script type="text/javascript">
\t\tvar g_steamID = "${steamId}";
\t\tvar g_rgAppContextData = {};
\t\tvar g_rgPartnerAppContextData = {};
\t\tvar g_strYourPersonaName = ${JSON.stringify(me.name)};
\t\tvar g_strTradePartnerPersonaName = ${JSON.stringify(partner.name)};
\t\tvar g_ulTradePartnerSteamID = '${partner.steamId}';
\t\tvar g_bTradePartnerProbation = false;
\t\tvar g_daysMyEscrow = 0;
\t\tvar g_daysTheirEscrow = 0;
\t\tvar g_daysBothEscrow = 0;
\t</script></body></html>`)
}

function write(request: Incoming, sandbox: Sandbox, steamId: string): Reply | undefined {
  const session = request.cookies.get('sessionid')
  // The address of the library's call begins with two slashes.
  const path = request.path.replace(/^\/+/, '/')
  if (!session || request.form.get('sessionid') !== session) return failure('sending', 8)
  if (path === '/trade/new/acknowledge') return json({ success: true })
  if (path === '/tradeoffer/new/send') return send(request, sandbox, steamId)
  const match = /^\/tradeoffer\/(\d+)\/(cancel|decline|accept)$/.exec(path)
  const offerId = match?.[1]
  if (!offerId) return undefined
  if (match[2] === 'accept') {
    const answer = sandbox.change((world, nowS) => acceptOffer(world, { offerId, by: steamId }, nowS))
    return answer.kind === 'refused'
      ? failure('accepting', answer.eresult)
      : json({ tradeid: answer.tradeId })
  }
  const how = match[2] === 'cancel' ? 'cancel' : 'decline'
  const answer = sandbox.change((world, nowS) => endOffer(world, { offerId, by: steamId, how }, nowS))
  const doing = how === 'cancel' ? 'canceling' : 'declining'
  return answer.kind === 'refused' ? failure(doing, answer.eresult) : json({ tradeofferid: offerId })
}

function send({ form, referer }: Incoming, sandbox: Sandbox, sender: string): Reply {
  const items = wantedItems(form.get('json_tradeoffer'))
  const created = parse(form.get('trade_offer_create_params') ?? '{}')
  const token = field(created, 'trade_offer_access_token')
  const fromTradePage = referer.startsWith('https://steamcommunity.com/tradeoffer/new/')
  if (!items || !fromTradePage) return failure('sending', 8)
  const intent = {
    sender,
    partner: form.get('partner') ?? '',
    token: typeof token === 'string' ? token : '',
    message: form.get('tradeoffermessage') ?? '',
    items,
  }
  const answer = sandbox.change((world, nowS) => sendOffer(world, intent, nowS))
  if (answer.kind === 'sent') return json({ tradeofferid: answer.offerId })
  return answer.eresult === 25 ? tooMany(sandbox, intent.partner) : failure('sending', answer.eresult)
}

function tooMany(sandbox: Sandbox, partner: string): Reply {
  const name = findAccount(sandbox.world(), partner)?.name ?? ''
  const text = `You have sent too many trade offers, or have too many outstanding trade offers with ${name}.`
  return json({ strError: `${text} Please cancel some before sending more. (25)` }, 500)
}

function failure(doing: string, eresult: number): Reply {
  const subject = doing === 'sending' ? 'your trade offer' : 'this trade offer'
  const strError = `There was an error ${doing} ${subject}.  Please try again later. (${eresult})`
  return json({ strError }, 500)
}

function wantedItems(offer: string | null): Wanted[] | undefined {
  const assets = field(field(parse(offer ?? ''), 'them'), 'assets')
  if (!Array.isArray(assets) || assets.length > 1000) return undefined
  return assets.map((asset: unknown) => ({
    appId: Number(field(asset, 'appid')),
    contextId: String(field(asset, 'contextid')),
    assetId: String(field(asset, 'assetid')),
  }))
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

function parse(value: string): unknown {
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}
