/** Compares the till's database with the sandboxes of Steam and the markets, once nothing changes any more. */
import { z } from 'zod'
import type { Deal, Listing } from '../../../market-sandbox/world/world.ts'
import { type Offer, STATE, TRADE } from '../../../steam-sandbox/world/world.ts'
import { checkTill, readRows, unsettledWork } from '../../kill/check.ts'
import { BOTS } from '../../kill/till.ts'
import type { SellingTill } from './till.ts'

export type SaleBooks = {
  /** Items that the vault moved to the account that sells. */
  moved: number
  /** Sales by their end. Cancelled ones count only if a buyer had been found. */
  paid: number
  reversed: number
  cancelled: number
  receivedCents: number
  takenBack: TakenBack
}

/**
 * How many items were taken back on Steam: from deposits, from the bots' gifts to the account that sells, and from
 * buyers.
 */
export type TakenBack = { deposited: number; given: number; sold: number }

const OPEN_STATES: readonly number[] = [STATE.active, STATE.needsConfirmation, STATE.inEscrow]

/** The markets, with the vault's names for them. */
const marketsOf = ({ market }: SellingTill) =>
  [
    { name: 'market.csgo.com', world: market.world() },
    { name: 'waxpeer.com', world: market.waxpeer.world() },
  ] as const

/** Offers in which a bot or the account that sells gives items. */
export function giftsOf({ steam, seller }: SellingTill): Offer[] {
  const ours = new Set([...BOTS.map((name) => steam.as(name).steamId), seller])
  return steam.world().offers.filter(({ sender, give }) => ours.has(sender) && give.length > 0)
}

/** Deals whose items a market still waits for, except those whose offer is in escrow. */
export function openDeals(till: SellingTill): Deal[] {
  const isInEscrow = ({ message }: Deal): boolean =>
    giftsOf(till).some((offer) => offer.message === message && offer.state === STATE.inEscrow)
  return marketsOf(till).flatMap(({ world }) =>
    world.deals.filter((deal) => deal.state === 'open' && !isInEscrow(deal)),
  )
}

/** Returns a line for everything that must still end before the books can be compared. */
export async function unsettledSales(till: SellingTill): Promise<string[]> {
  const rows = await readRows(
    till.pool,
    `select 'wish ' || id || ' is open' as line from wish where closed_at is null
     union all select 'report ' || n || ' has no answer' from vault_told where answer is null
     union all select 'trade ' || id || ' is still held, although its hold is over' from trade where state = 'held' and settles_at <= till_now()
     union all select 'sale ' || id || ' is ' || state from sale where state in ('listed', 'sold', 'delivered', 'settling')`,
    z.object({ line: z.string() }),
  )
  const offers = giftsOf(till).filter(({ state }) => OPEN_STATES.includes(state))
  const deals = marketsOf(till).flatMap(({ world }) => world.deals.filter(({ state }) => state === 'open'))
  const items = marketsOf(till).flatMap(({ world }) =>
    world.items.filter(({ status, outcome }) => status === 'on_sale' || outcome?.kind === 'settling'),
  )
  return [
    ...(await unsettledWork(till)),
    ...rows.map(({ line }) => line),
    ...offers.map(({ id, state }) => `offer ${id} is in state ${state}`),
    ...deals.map(({ hash }) => `the deal ${hash} is open`),
    ...items.map(({ itemId, status }) => `listing ${itemId} is ${status}`),
  ]
}

/** Returns a line for each promise that was broken. Call this only after everything has settled. */
export async function checkSales(till: SellingTill, confirmedIds: readonly string[]): Promise<string[]> {
  return [
    ...(await checkTill(till, confirmedIds)),
    ...(await checkGiftsOfBots(till)),
    ...checkGiftsToBuyers(till),
    ...findItemsGivenTwice(till),
    ...(await compareSalesWithMarkets(till)),
    ...(await compareBooksWithMarkets(till)),
    ...(await findUnexplained(till)),
    ...checkItemsOfSeller(till),
  ]
}

const joinedKeysOf = (assets: readonly { appId: number; assetId: string }[]): string =>
  assets
    .map(({ appId, assetId }) => `${appId}/${assetId}`)
    .sort()
    .join()

/** Checks that a bot gives exactly what a wish of the till asks for, once, to the account that sells. */
async function checkGiftsOfBots(till: SellingTill): Promise<string[]> {
  const wishes = await readRows(
    till.pool,
    `select wish.id::text, steam_id as bot, destination, deed.state,
       (select json_agg(json_build_object('appId', app_id, 'assetId', asset_id)) from wish_item where wish_id = wish.id) as items
     from wish join bot on bot.id = bot_id left join vault_deed deed on deed.wish_id = wish.id`,
    z.object({
      id: z.string(),
      bot: z.string(),
      destination: z.string(),
      state: z.string().nullable(),
      items: z.array(z.object({ appId: z.number(), assetId: z.string() })),
    }),
  )
  const gifts = giftsOf(till).filter(({ sender }) => sender !== till.seller)
  const numberOf = ({ message }: Offer): string => /^vault w(\d+) x/.exec(message)?.[1] ?? ''
  const wrong = gifts.filter((offer) => {
    const wish = wishes.find(({ id }) => id === numberOf(offer))
    const isMeant = wish?.bot === offer.sender && wish.destination === 'seller'
    return !isMeant || offer.partner !== till.seller || joinedKeysOf(wish.items) !== joinedKeysOf(offer.give)
  })
  const wrongStates = wishes.filter(({ id, state }) => {
    const isGiven = gifts.some((offer) => numberOf(offer) === id && offer.state === STATE.accepted)
    return isGiven !== (state === 'delivered')
  })
  return [
    ...wrong.map(({ id }) => `offer ${id} gives what no wish asked for`),
    ...duplicatesOf(gifts.map(numberOf)).map((id) => `wish ${id} was carried out twice`),
    ...wrongStates.map(({ id, state }) => `wish ${id} is ${state}, but Steam shows otherwise`),
  ]
}

/**
 * Checks that the account that sells gives exactly what a buyer bought, once, to that buyer, with the market's message.
 */
function checkGiftsToBuyers(till: SellingTill): string[] {
  const deals = marketsOf(till).flatMap(({ world }) =>
    world.deals.map((deal) => ({ deal, items: itemsOf(world.items, deal) })),
  )
  const gifts = giftsOf(till).filter(({ sender }) => sender === till.seller)
  return [
    ...duplicatesOf(gifts.map(({ message }) => message)).map((message) => `two offers for ${message}`),
    ...gifts.flatMap((offer) => {
      const bought = deals.find(({ deal }) => deal.message === offer.message)
      if (bought?.deal.buyer !== offer.partner || joinedKeysOf(bought.items) !== joinedKeysOf(offer.give))
        return [`offer ${offer.id} gives what nobody bought`]
      const isGiven = offer.state === STATE.accepted || offer.state === STATE.reverted
      return isGiven && bought.deal.state !== 'given' ? [`offer ${offer.id} gave an item for nothing`] : []
    }),
  ]
}

const itemsOf = (items: readonly Listing[], { itemIds }: Deal): Listing[] =>
  items.filter(({ itemId }) => itemIds.includes(itemId))

function findItemsGivenTwice(till: SellingTill): string[] {
  const trades = till.steam.world().trades
  const isTakenBack = (tradeId: string | undefined, assetId: string): boolean =>
    trades
      .find(({ id }) => id === tradeId)
      ?.items.some((item) => item.assetId === assetId && item.rolledBackAssetId !== undefined) === true
  const given = giftsOf(till)
    .filter(({ state }) => state === STATE.accepted)
    .flatMap(({ sender, give, tradeId }) =>
      give.flatMap(({ assetId }) => (isTakenBack(tradeId, assetId) ? [] : [`${sender} ${assetId}`])),
    )
  return duplicatesOf(given).map((item) => `given twice: ${item}`)
}

const duplicatesOf = (values: readonly string[]): string[] => [
  ...new Set(values.filter((value, index) => values.indexOf(value) !== index)),
]

const saleSchema = z.object({
  market: z.string(),
  asset: z.string(),
  state: z.string(),
  cents: z.number(),
})

/** Checks that every sale has ended, and that the till has booked the same end and amount as its market. */
async function compareSalesWithMarkets(till: SellingTill): Promise<string[]> {
  const sales = await readRows(
    till.pool,
    `select market, listed_asset_id as asset, state, coalesce(case state when 'paid' then received else refund end, 0)::int as cents
     from sale`,
    saleSchema,
  )
  const unended = sales.filter(({ state }) => !['paid', 'cancelled', 'reversed', 'late'].includes(state))
  const booked = sales
    .filter(({ state }) => state === 'paid' || state === 'reversed' || state === 'late')
    .map(({ market, asset, state, cents }) => `${market} ${asset} ${state} ${cents}`)
  const onMarket = marketsOf(till).flatMap(({ name, world }) =>
    world.items.flatMap(({ assetId, outcome }) => {
      const end = expectedEnd(name, outcome)
      return end === undefined ? [] : [`${name} ${assetId} ${end.state} ${end.cents}`]
    }),
  )
  return [
    ...unended.map(({ market, asset, state }) => `the sale of ${asset} on ${market} is ${state}`),
    ...without(onMarket, booked).map((line) => `not booked: ${line}`),
    ...without(booked, onMarket).map((line) => `booked, but not on the market: ${line}`),
  ]
}

/**
 * The state and amount that the till must have for a sale that was paid or taken back; undefined for others. For a sale
 * that was taken back, Waxpeer shows only that it was cancelled, and no refund. So the till learns only that the item
 * was given and nothing is owed.
 */
function expectedEnd(
  market: string,
  outcome: Listing['outcome'],
): { state: string; cents: number } | undefined {
  if (outcome?.kind !== 'paid' && outcome?.kind !== 'reversed') return undefined
  if (outcome.kind === 'reversed' && market === 'waxpeer.com') return { state: 'late', cents: 0 }
  return { state: outcome.kind, cents: centsOf(outcome) }
}

/** The markets' sandbox counts money in tenths of a cent. */
const UNITS_PER_CENT = 10
const centsOf = ({ kind, received, refund = 0 }: NonNullable<Listing['outcome']>): number =>
  Math.floor((kind === 'paid' ? received : refund) / UNITS_PER_CENT)

/** Returns the list without `others`, each of which removes one equal entry. */
function without(list: readonly string[], others: readonly string[]): string[] {
  const remaining = [...others]
  return list.filter((each) => {
    const at = remaining.indexOf(each)
    if (at >= 0) remaining.splice(at, 1)
    return at < 0
  })
}

/**
 * Checks that the till's accounts of each market match the sales there, and that the seller's balance at the market
 * matches what the market paid for them, except for rounding.
 */
async function compareBooksWithMarkets(till: SellingTill): Promise<string[]> {
  const accounts = await readRows(
    till.pool,
    'select market, kind, (-balance)::int as cents from market_account',
    z.object({ market: z.string(), kind: z.string(), cents: z.number() }),
  )
  return marketsOf(till).flatMap(({ name, world }) => {
    const balance = (kind: string) =>
      accounts.find((each) => each.market === name && each.kind === kind)?.cents ?? 0
    const ended = world.items.flatMap(({ outcome }) =>
      outcome?.kind === 'paid' || outcome?.kind === 'reversed' ? [outcome] : [],
    )
    const paid = ended.reduce((sum, outcome) => sum + centsOf(outcome), 0)
    const expected = ended.reduce((sum, outcome) => sum + (expectedEnd(name, outcome)?.cents ?? 0), 0)
    const [account] = world.sellers
    // Rounding cuts off less than a cent of each sale.
    const isNear =
      Math.abs((account?.free ?? 0) - paid * UNITS_PER_CENT) < UNITS_PER_CENT * (ended.length + 1)
    return [
      ...(balance('free') === expected
        ? []
        : [`${name} owes ${expected} free cents, the books have ${balance('free')}`]),
      ...(balance('settling') === 0 ? [] : [`${balance('settling')} cents are still settling on ${name}`]),
      ...(isNear ? [] : [`${name} has ${account?.free} units of ours, but its sales paid ${paid} cents`]),
    ]
  })
}

/** Returns a line for each refused report and each unexplained departure. */
async function findUnexplained({ pool }: SellingTill): Promise<string[]> {
  const rows = await readRows(
    pool,
    `select 'report ' || n || ' of ' || market || '/' || reference || ' was answered with ' || answer as line from vault_told
       where answer not in ('recorded', 'known', 'changed', 'unchanged')
     union all select 'departure ' || steam_trade_id || ' is not explained' from departure where explanation is null`,
    z.object({ line: z.string() }),
  )
  return rows.map(({ line }) => line)
}

/** Checks that the account that sells has exactly the items that it received and has not given away. */
function checkItemsOfSeller(till: SellingTill): string[] {
  const { steam, seller } = till
  const actual = new Set(
    steam
      .as(seller)
      .items()
      .map(({ assetId }) => assetId),
  )
  const trades = steam
    .world()
    .trades.filter(({ rollbackOf, status }) => rollbackOf === undefined && status !== TRADE.escrowRollback)
  const received = trades
    .filter(({ partner }) => partner === seller)
    .flatMap(({ items }) =>
      items.flatMap(({ newAssetId, rolledBackAssetId }) =>
        newAssetId === undefined || rolledBackAssetId !== undefined ? [] : [newAssetId],
      ),
    )
  const givenAway = new Set(
    trades
      .filter(({ sender }) => sender === seller)
      .flatMap(({ items }) => items.flatMap((item) => (item.rolledBackAssetId ? [] : [item.assetId]))),
  )
  const expected = received.filter((assetId) => !givenAway.has(assetId))
  return [
    ...expected.filter((assetId) => !actual.has(assetId)).map((assetId) => `${assetId} is lost`),
    ...[...actual]
      .filter((assetId) => !expected.includes(assetId))
      .map((assetId) => `${assetId} came from nowhere`),
  ]
}

export async function saleBooksOf(till: SellingTill): Promise<SaleBooks> {
  const [row] = await readRows(
    till.pool,
    `select count(*) filter (where state = 'paid')::int as paid, count(*) filter (where state = 'reversed')::int as reversed,
       count(*) filter (where state = 'cancelled' and sold_at is not null)::int as cancelled,
       coalesce(sum(received) filter (where state = 'paid'), 0)::int as "receivedCents",
       (select count(*)::int from departed_item) as moved from sale`,
    z.object({
      paid: z.number(),
      reversed: z.number(),
      cancelled: z.number(),
      receivedCents: z.number(),
      moved: z.number(),
    }),
  )
  const none = { moved: 0, paid: 0, reversed: 0, cancelled: 0, receivedCents: 0 }
  return { ...(row ?? none), takenBack: takenBackOf(till) }
}

function takenBackOf({ steam, seller }: SellingTill): TakenBack {
  const bots = new Set(BOTS.map((name) => steam.as(name).steamId))
  const takenBack = steam
    .world()
    .trades.flatMap(({ items }) => items.filter(({ rolledBackAssetId }) => rolledBackAssetId !== undefined))
  const given = takenBack.filter(({ from }) => bots.has(from)).length
  const sold = takenBack.filter(({ from }) => from === seller).length
  return { given, sold, deposited: takenBack.length - given - sold }
}
