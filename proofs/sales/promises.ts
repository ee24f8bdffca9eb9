/**
 * Checks the promises that the vault keeps at every moment, and those that it keeps once nothing changes any more.
 * docs/proofs.md explains their names, such as I20.
 */
import { z } from 'zod'
import { isSameSet } from '../../vault/giving/gift.ts'
import type { Wish } from '../../vault/giving/judge.ts'
import { isLive } from '../../vault/markets/book.ts'
import type { Rounds } from '../../vault/rounds.ts'
import { must } from '../simulation/violation.ts'
import type { ModelMarket } from './market.ts'
import type { Offer } from './steam.ts'
import { OURS, type SalesWorld } from './world.ts'

/** `key`: the market, and its number for the listing. */
export type SaleView = { key: string; market: string; assetId: string; state: string }
/**
 * `waiting`: the vault has not taken it up. `under way`: the vault has taken it up, and Steam may have the offer.
 * `refused`: the vault will never carry it out. `delivered`: the items have arrived. `ended`: it came to nothing.
 */
export type WishView = Wish & {
  state: 'waiting' | 'under way' | 'refused' | 'delivered' | 'ended'
  isOpen: boolean
}
export type TillView = { sales: readonly SaleView[]; wishes: readonly WishView[] }

/** Whether the partner has the offer's items, or may still get them. */
const isLiveOffer = ({ seen, trade }: Offer): boolean =>
  seen.state !== 'ended' && trade?.state !== 'failed' && trade?.state !== 'rolled_back'

export const wishIdOf = ({ gift }: Offer): string | undefined => /^vault w(\d+) x/.exec(gift.message)?.[1]

/** Checks the promises that hold at every moment. */
export function checkNow(world: SalesWorld, { record }: Rounds, wishes: readonly Wish[]): void {
  checkOffers(world, wishes)
  checkLimits(world)
  const live = record.book().listings.filter(isLive)
  const assets = new Set(live.map(({ assetId }) => assetId))
  must(assets.size === live.length, 'I21', () => 'an item is listed twice')
  const forSale = world.markets.flatMap(({ items }) => items.filter(({ stage }) => stage === 'on_sale'))
  const distinct = new Set(forSale.map(({ assetId }) => assetId))
  must(distinct.size === forSale.length, 'I21', () => 'an item is for sale on two markets')
}

function checkOffers(world: SalesWorld, wishes: readonly Wish[]): void {
  const given = new Set<string>()
  const messages = new Set<string>()
  const onSale = new Set(
    world.markets.flatMap(({ items }) =>
      items.flatMap(({ stage, assetId }) => (stage === 'on_sale' ? [assetId] : [])),
    ),
  )
  for (const offer of world.steam.offers) {
    const { gift, offerId } = offer
    const wishId = wishIdOf(offer)
    const isMeant = wishId === undefined ? isBought(world, offer) : isWished(world, offer, wishes)
    must(isMeant, 'I20', () => `offer ${offerId} gives what nobody may get: ${gift.message}`)
    const subject = wishId ?? gift.message
    must(!messages.has(subject), 'I21', () => `a second offer for ${subject}`)
    messages.add(subject)
    if (!isLiveOffer(offer)) continue
    for (const { assetId } of gift.assets) {
      must(!given.has(assetId), 'I21', () => `${assetId} is in two offers`)
      must(wishId === undefined || !onSale.has(assetId), 'I21', () => `${assetId} is given and for sale`)
      given.add(assetId)
    }
  }
}

/** Whether somebody bought exactly these items from the account that gives them. */
function isBought({ markets }: SalesWorld, { from, gift }: Offer): boolean {
  const deal = markets.flatMap((market) => market.deals).find(({ due }) => due.message === gift.message)
  return (
    deal !== undefined &&
    !deal.isForged &&
    deal.seller === from &&
    deal.due.partnerSteamId === gift.partnerSteamId &&
    !OURS.has(gift.partnerSteamId) &&
    isSameSet(deal.due.assets, gift.assets)
  )
}

/**
 * Whether the till wished for exactly this gift, to a destination in the vault's list or to the shopper who brought the
 * items.
 */
function isWished({ rules, deposits }: SalesWorld, offer: Offer, wishes: readonly Wish[]): boolean {
  const { from, gift } = offer
  const wish = wishes.find(({ id }) => id === wishIdOf(offer))
  if (wish === undefined || wish.fromSteamId !== from || !isSameSet(wish.assets, gift.assets)) return false
  if (wish.ask.kind === 'send') return rules.destinations[wish.ask.to]?.steamId === gift.partnerSteamId
  const givers = new Set(
    gift.assets.map(({ assetId }) => deposits.find(({ things }) => things.includes(assetId))?.from),
  )
  return givers.size === 1 && givers.has(gift.partnerSteamId)
}

/** The vault's log entries for items that begin to leave, and for gifts that come to nothing. */
const leavingSchema = z.union([
  z.object({ kind: z.literal('intended'), wish: z.string(), assets: z.array(z.unknown()) }),
  z.object({ kind: z.literal('ended'), wish: z.string() }),
  z.object({
    kind: z.literal('sale'),
    sale: z.union([
      z.object({
        kind: z.literal('deal_intended'),
        market: z.string(),
        due: z.object({ dealId: z.string(), assets: z.array(z.unknown()) }),
      }),
      z.object({
        kind: z.enum(['abandoned', 'offer_ended']),
        market: z.string(),
        dealId: z.string(),
      }),
      z.object({
        kind: z.literal('send_refused'),
        market: z.string(),
        dealId: z.string(),
        // After these reasons a send may be repeated, so its items still count.
        because: z.string().refine((because) => !['no_session', 'too_many_offers'].includes(because)),
      }),
    ]),
  }),
])
type Leaving = z.infer<typeof leavingSchema>
const HOUR_MS = 3_600_000

/** How much of each world's log has been checked, and the gifts in it that have not come to nothing. */
const progress = new WeakMap<
  SalesWorld,
  { checkedEntries: number; leaving: Map<string, { atMs: number; items: number }> }
>()

/**
 * Checks, from the log alone, that an hour's gifts stay within the limit on items. Gifts that came to nothing do not
 * count.
 */
function checkLimits(world: SalesWorld): void {
  const { entries, rules } = world
  const state = progress.get(world) ?? { checkedEntries: 0, leaving: new Map() }
  progress.set(world, state)
  for (const { at, entry } of entries.slice(state.checkedEntries)) {
    const step = leavingSchema.safeParse(entry).data
    if (step === undefined) continue
    const { subject, items } = leavingOf(step)
    if (items === undefined) state.leaving.delete(subject)
    else state.leaving.set(subject, { atMs: at.getTime(), items })
    const since = at.getTime() - HOUR_MS
    const sum = [...state.leaving.values()].reduce(
      (all, each) => all + (each.atMs >= since ? each.items : 0),
      0,
    )
    must(sum <= rules.limits.itemsAnHour, 'I26', () => `${sum} items leave in an hour`)
  }
  state.checkedEntries = entries.length
}

function leavingOf(step: Leaving): { subject: string; items?: number } {
  if (step.kind === 'intended') return { subject: step.wish, items: step.assets.length }
  if (step.kind === 'ended') return { subject: step.wish }
  const { sale } = step
  if (sale.kind !== 'deal_intended') return { subject: `${sale.market}/${sale.dealId}` }
  return { subject: `${sale.market}/${sale.due.dealId}`, items: sale.due.assets.length }
}

/** Checks the promises that hold once nothing changes any more. */
export function checkFinalState(world: SalesWorld, vault: Rounds, till: TillView): void {
  const { steam, markets } = world
  for (const [key, deal] of vault.record.book().deals) {
    const isOver = deal.state === 'delivered' || deal.state === 'ended'
    must(isOver, 'I24', () => `the deal ${key} is ${deal.state}`)
  }
  for (const { seen, offerId } of steam.offers) {
    const isOpen = seen.state === 'active' || seen.state === 'in_escrow'
    must(!isOpen, 'I24', () => `offer ${offerId} is ${seen.state}`)
  }
  for (const market of markets) for (const item of market.items) checkEnd(till, { market, item })
  for (const { key, state } of till.sales) {
    const isOver = ['paid', 'cancelled', 'reversed', 'late'].includes(state)
    must(isOver, 'I24', () => `the sale ${key} is ${state}`)
  }
  for (const wish of till.wishes) checkWish(world, wish)
}

/** Checks that a wish has ended, and that the till shows its true outcome. */
function checkWish({ steam }: SalesWorld, { id, state, isOpen, ask }: WishView): void {
  // A return that nobody approved waits forever.
  if (ask.kind === 'return' && state === 'waiting') return
  must(!isOpen, 'I25', () => `wish ${id} is open: ${state}`)
  const offer = steam.offers.find((each) => wishIdOf(each) === id)
  const isGiven = offer?.seen.state === 'accepted' && offer.trade?.state !== 'failed'
  must(
    isGiven === (state === 'delivered'),
    'I25',
    () => `wish ${id} is ${state}, its offer ${offer?.seen.state}`,
  )
}

type Ended = { market: ModelMarket; item: ModelMarket['items'][number] }

/** Checks that the till shows the true outcome of an item. */
function checkEnd(till: TillView, { market, item }: Ended): void {
  const { itemId, stage, end } = item
  const state = till.sales.find(({ key }) => key === `${market.name}/${itemId}`)?.state
  if (stage === 'given') {
    const expected = end?.kind === 'cancelled' ? 'late' : end?.kind
    must(state === expected, 'I24', () => `${itemId} was given and ${end?.kind}; the till says ${state}`)
    return
  }
  must(stage !== 'on_sale', 'I24', () => `${itemId} is still for sale`)
  const isExpected = state === undefined || state === 'cancelled' || state === 'late'
  must(isExpected, 'I24', () => `${itemId} was not given; the till says ${state}`)
}
