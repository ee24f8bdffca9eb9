import { type Incoming, json, type Reply, type Sandbox, text } from '../exchange.ts'
import { CATALOGUE, describe } from '../items.ts'
import { accountOf } from '../tokens.ts'
import {
  type Account,
  type Asset,
  findAccount,
  OFFER_LIFE_S,
  type Offer,
  STATE,
  type Trade,
} from '../world.ts'

const PAGE = 100

/** The Web API at api.steampowered.com, for holders of a token of the community. */
export function api(request: Incoming, sandbox: Sandbox): Reply | undefined {
  if (request.host !== 'api.steampowered.com') return undefined
  const token = request.query.get('access_token') ?? request.form.get('access_token') ?? ''
  const caller = accountOf(token, 'web:community', sandbox.nowS())
  if (!caller) return text(UNAUTHORIZED, 'text/html', 401)
  const [, service, name] = request.path.split('/')
  const method = METHODS[`${service}/${name}`]
  return method ? method(request, sandbox, caller) : text('<h1>Not Found</h1>', 'text/html', 404)
}

const UNAUTHORIZED =
  '<html><head><title>Unauthorized</title></head><body><h1>Unauthorized</h1>Access is denied. ' +
  'Retrying will not help. Please verify your <pre>key=</pre> parameter.</body></html>'

const METHODS: Record<string, (request: Incoming, sandbox: Sandbox, caller: string) => Reply> = {
  'IEconService/GetTradeHoldDurations': holdDurations,
  'IEconService/GetTradeOffers': tradeOffers,
  'IEconService/GetTradeOffer': tradeOffer,
  'IEconService/GetTradeStatus': tradeStatus,
  'ISteamUser/GetPlayerSummaries': summaries,
  'IPlayerService/GetSteamLevel': (request, sandbox) => {
    const account = findAccount(sandbox.world(), request.query.get('steamid') ?? '')
    return answer(account ? { player_level: account.level } : {})
  },
}

function answer(response: object, eresult = 1): Reply {
  return json({ response }, 200, { 'x-eresult': String(eresult) })
}

function holdDurations(request: Incoming, sandbox: Sandbox): Reply {
  const partner = findAccount(sandbox.world(), request.query.get('steamid_target') ?? '')
  if (!partner || partner.token !== request.query.get('trade_offer_access_token')) return answer({}, 15)
  const none = { escrow_end_duration_seconds: 0 }
  return answer({ my_escrow: none, their_escrow: none, both_escrow: none })
}

function tradeOffers({ query }: Incoming, sandbox: Sandbox, caller: string): Reply {
  const cutoff = Number(query.get('time_historical_cutoff') ?? 0)
  const start = Number(query.get('cursor') ?? 0)
  const isOn = (name: string) => query.get(name) === '1' || query.get(name) === 'true'
  const seen = sandbox
    .world()
    .offers.filter((offer) => {
      const side =
        (offer.sender === caller && isOn('get_sent_offers')) ||
        (offer.partner === caller && isOn('get_received_offers'))
      const live = offer.state === STATE.active
      if (isOn('historical_only')) return side && !live
      return side && (!isOn('active_only') || live || (cutoff > 0 && offer.updatedAtS >= cutoff))
    })
    .reverse()
  const page = seen.slice(start, start + PAGE)
  const sent = page.filter((offer) => offer.sender === caller)
  const received = page.filter((offer) => offer.partner === caller)
  return answer({
    ...(sent.length > 0 ? { trade_offers_sent: sent.map((offer) => offerView(offer, sandbox, caller)) } : {}),
    ...(received.length > 0
      ? { trade_offers_received: received.map((offer) => offerView(offer, sandbox, caller)) }
      : {}),
    ...(isOn('get_descriptions')
      ? { descriptions: descriptionsOf(page.flatMap((offer) => offer.items)) }
      : {}),
    next_cursor: start + PAGE < seen.length ? start + PAGE : 0,
  })
}

function tradeOffer({ query }: Incoming, sandbox: Sandbox, caller: string): Reply {
  const offer = sandbox.world().offers.find(({ id }) => id === query.get('tradeofferid'))
  if (!offer || (offer.sender !== caller && offer.partner !== caller)) return answer({})
  return answer({ offer: offerView(offer, sandbox, caller) })
}

function offerView(offer: Offer, sandbox: Sandbox, caller: string) {
  const ours = offer.sender === caller
  const world = sandbox.world()
  const other = findAccount(world, ours ? offer.partner : offer.sender)
  const owned = new Set(findAccount(world, offer.partner)?.assets.map(({ assetId }) => assetId))
  const items = offer.items.map((asset) => ({
    ...assetView(asset),
    missing: !owned.has(asset.assetId),
    est_usd: '0',
  }))
  return {
    tradeofferid: offer.id,
    accountid_other: other?.accountId ?? 0,
    message: offer.message,
    expiration_time: offer.createdAtS + OFFER_LIFE_S,
    trade_offer_state: offer.state,
    [ours ? 'items_to_receive' : 'items_to_give']: items,
    is_our_offer: ours,
    time_created: offer.createdAtS,
    time_updated: offer.updatedAtS,
    ...(offer.tradeId ? { tradeid: offer.tradeId } : {}),
    from_real_time_trade: false,
    escrow_end_date: 0,
    confirmation_method: 0,
    eresult: 1,
    delay_settlement: offer.items.some(({ appId }) => appId === 730),
    settlement_date: world.trades.find(({ id }) => id === offer.tradeId)?.settlesAtS ?? 0,
  }
}

function assetView(asset: Asset) {
  return {
    appid: asset.appId,
    contextid: asset.contextId,
    assetid: asset.assetId,
    classid: asset.classId,
    instanceid: '0',
    amount: '1',
  }
}

function tradeStatus({ query }: Incoming, sandbox: Sandbox, caller: string): Reply {
  const trade = sandbox.world().trades.find(({ id }) => id === query.get('tradeid'))
  if (!trade || (trade.giver !== caller && trade.receiver !== caller)) return answer({})
  const described = query.get('get_descriptions') === '1' ? { descriptions: descriptionsOf(trade.items) } : {}
  return answer({ trades: [tradeView(trade, caller)], ...described })
}

function tradeView(trade: Trade, caller: string) {
  const received = trade.receiver === caller
  const assets = trade.items.map((item) => ({
    ...assetView(item),
    new_assetid: item.newAssetId,
    new_contextid: item.newContextId,
  }))
  return {
    tradeid: trade.id,
    steamid_other: received ? trade.giver : trade.receiver,
    time_init: trade.atS,
    ...(trade.settlesAtS > 0 ? { time_settlement: trade.settlesAtS } : {}),
    status: 3,
    [received ? 'assets_received' : 'assets_given']: assets,
  }
}

function descriptionsOf(items: Asset[]) {
  const ids = new Set(items.map(({ classId }) => classId))
  return [...CATALOGUE.values()].filter(({ classId }) => ids.has(classId)).map(describe)
}

function summaries({ query }: Incoming, sandbox: Sandbox): Reply {
  const ids = new Set((query.get('steamids') ?? '').split(',').slice(0, 100))
  return answer({
    players: sandbox
      .world()
      .accounts.filter(({ steamId }) => ids.has(steamId))
      .map(summary),
  })
}

function summary(account: Account) {
  const avatar = `https://avatars.steamstatic.com/${account.avatarHash}`
  return {
    steamid: account.steamId,
    communityvisibilitystate: 3,
    profilestate: 1,
    personaname: account.name,
    profileurl: `https://steamcommunity.com/profiles/${account.steamId}/`,
    avatar: `${avatar}.jpg`,
    avatarmedium: `${avatar}_medium.jpg`,
    avatarfull: `${avatar}_full.jpg`,
    avatarhash: account.avatarHash,
    personastate: 1,
  }
}
