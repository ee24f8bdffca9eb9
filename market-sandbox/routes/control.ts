import { FAULTS, isFault } from '../faults.ts'
import { isCurrency } from '../games.ts'
import { field, type Incoming, json, parseJson, type Reply } from '../http.ts'
import { isMarketName, lookAtAll, MARKET_NAMES, type Market, type Markets } from '../sandbox.ts'
import { markReversing } from '../world/deals.ts'
import { openAccount } from '../world/sellers.ts'
import { isTemper } from '../world/world.ts'

/** The calls of tests and demos. Those about one market concern `family`, unless `?market=waxpeer` is given. */
export async function control(request: Incoming, markets: Markets): Promise<Reply | undefined> {
  if (!request.path.startsWith('/control/')) return undefined
  const [, , noun = '', id = '', verb = ''] = request.path.split('/')
  const key = `${request.method} ${noun}${id ? ' *' : ''}${verb ? ` ${verb}` : ''}`
  const name = request.query.get('market') ?? 'family'
  if (!isMarketName(name)) return bad('The markets are family and waxpeer.')
  return CALLS[key]?.({ market: markets[name], markets, id, body: parseJson(request.body) })
}

type ControlCall = { market: Market; markets: Markets; id: string; body: unknown }

const CALLS: Record<string, (call: ControlCall) => Promise<Reply> | Reply> = {
  'POST sellers': ({ market, body }) => {
    const [steamId, currency = 'USD'] = [field(body, 'steamId'), field(body, 'currency')]
    if (typeof steamId !== 'string' || !/^\d{17}$/.test(steamId) || !isCurrency(currency))
      return bad('Give steamId, and a currency: USD, EUR or RUB.')
    const account = market.change((world) => openAccount(world, { steamId, currency }))
    return json({ steamId, key: account.key, currency: account.currency }, 201)
  },
  'GET sellers': ({ market }) => json(market.world().sellers.map(({ accessToken: _, ...seller }) => seller)),
  'GET items': ({ market }) => json(market.world().items),
  'GET deals': ({ market }) => json(market.world().deals),
  'POST buy': async ({ market, body }) => {
    const [items, as = 'accepts'] = [field(body, 'items'), field(body, 'as')]
    if (!Array.isArray(items) || !isTemper(as)) return bad('Give items, and as: the temper of the buyer.')
    return boughtReply(await market.buy(items.map(Number), as))
  },
  'POST deals * take-back': async ({ market, markets, id }) =>
    json({ ok: await takeBack(markets, market, id) }),
  'POST look': async ({ markets }) => {
    await lookAtAll(markets)
    return json({ ok: true })
  },
  'GET clock': ({ market }) => json({ nowS: market.nowS(), aheadS: market.world().aheadS }),
  'GET faults': ({ market }) => {
    const activeNames = new Set<string>(market.faults.activeNames())
    return json(Object.entries(FAULTS).map(([name, { line }]) => ({ name, line, on: activeNames.has(name) })))
  },
  'PUT faults *': ({ market, id, body }) => {
    if (!isFault(id)) return bad(`There is no fault called ${id}.`)
    const times = field(body, 'times')
    market.faults.begin(id, typeof times === 'number' ? times : undefined)
    return json({ ok: true })
  },
  'DELETE faults *': ({ market, id }) => {
    if (!isFault(id)) return bad(`There is no fault called ${id}.`)
    market.faults.end(id)
    return json({ ok: true })
  },
  'DELETE faults': ({ market }) => {
    market.faults.clear()
    return json({ ok: true })
  },
  'GET log': ({ market }) => json(market.log),
  'POST reset': ({ markets }) => {
    markets.family.reset()
    markets.waxpeer.reset()
    return json({ ok: true })
  },
}

export function boughtReply(bought: Awaited<ReturnType<Market['buy']>>): Reply {
  return bought.kind === 'bought' ? json(bought.deal, 201) : json({ error: bought.error }, 409)
}

/**
 * Reverses all protected trades of the deal's seller, as one click on Steam does. Resolves to false if the market
 * does not have the deal, or if its items were not given.
 */
export async function takeBack(markets: Markets, market: Market, hash: string): Promise<boolean> {
  // Steam also reverses deals that the markets have not seen as given yet.
  await lookAtAll(markets)
  const deal = market.world().deals.find((each) => each.hash === hash)
  if (deal?.state !== 'given') return false
  for (const name of MARKET_NAMES)
    markets[name].change((world) => ({ world: markReversing(world, deal.seller), answer: undefined }))
  await market.steam.reverse(deal.seller)
  await lookAtAll(markets)
  return true
}

function bad(error: string): Reply {
  return json({ error }, 400)
}
