/** Judges deals by the offers and trades on Steam. Pure. */
import type { SteamOffer, SteamTrade } from '../steam.ts'
import {
  changeSeller,
  DAY_S,
  type Deal,
  itemsOf,
  type Listing,
  type Outcome,
  type World,
  withDeal,
  withItems,
} from './world.ts'

/** The share of a price that the seller gets. */
export const SELLER_SHARE = 0.95
/** A buyer who reverses a trade pays this share of the price to the seller. */
const REVERSAL_SHARE = 0.2
/** For this long, an item that a reversal brought back cannot be listed. */
const BLOCKED_S = 7 * DAY_S
/** For this long, an account that took its own sale back may not sell. */
const BAN_AFTER_REVERSAL_S = 30 * DAY_S
/** When a seller's `missed` reaches this number, the account may not sell for a day. */
const MISSES_BEFORE_BAN = 3
const BAN_AFTER_MISSES_S = DAY_S
/** An item whose offer is still open this long after the sale counts as not handed over. */
const MOST_OPEN_S = 7 * 3600

/** A market that notices reversals late does so this long after it has paid. */
const NOTICED_AFTER_S = 2 * DAY_S

/** Steam's numbers for the states of an offer. */
export const OFFER = { active: 2, accepted: 3, withdrawn: 6, unconfirmed: 9, escrow: 11 }
/** Steam's numbers for trades that were taken back. */
const REVERSED = new Set([6, 7, 12])

/** `isLate`: the market notices reversals only after it has paid. */
export type SteamView = {
  offers: readonly SteamOffer[]
  trades: readonly SteamTrade[]
  isLate?: boolean
}

/** Returns the offer that hands a deal over: from its seller to its buyer, with its message. */
export function offerOf(deal: Deal, offers: readonly SteamOffer[]): SteamOffer | undefined {
  const matching = offers.filter(
    ({ sender, partner, message }) =>
      sender === deal.seller && partner === deal.buyer && message === deal.message,
  )
  return matching.findLast(({ state }) => state !== OFFER.unconfirmed) ?? matching.at(-1)
}

/** Marks ended deals as given or failed, then pays or reverses those that were given. */
export function judge(world: World, seen: SteamView, nowS: number): World {
  const judged = world.deals
    .filter(({ state }) => state === 'open')
    .reduce((next, deal) => judgeDeal(next, deal, { seen, nowS }), world)
  return judged.deals
    .filter(({ state }) => state === 'given')
    .reduce((next, deal) => judgeGiven(next, deal, { seen, nowS }), judged)
}

type JudgeContext = { seen: SteamView; nowS: number }

function judgeDeal(world: World, deal: Deal, { seen, nowS }: JudgeContext): World {
  const offer = offerOf(deal, seen.offers)
  if (offer === undefined || offer.state === OFFER.unconfirmed)
    return nowS >= deal.deadlineS ? failDeal(world, deal, { isMissed: true, nowS }) : world
  if (offer.state === OFFER.accepted) return recordGift(world, deal, { offer, seen, nowS })
  if (offer.state === OFFER.active)
    return nowS >= deal.madeAtS + MOST_OPEN_S ? failDeal(world, deal, { isMissed: true, nowS }) : world
  if (offer.state === OFFER.escrow) return world
  const isWithdrawnInTime = offer.state === OFFER.withdrawn && offer.updatedAtS < deal.deadlineS
  // The seller may replace a withdrawn offer until the deadline.
  if (isWithdrawnInTime && nowS < deal.deadlineS) return world
  return failDeal(world, deal, { isMissed: isWithdrawnInTime, nowS })
}

function recordGift(
  world: World,
  deal: Deal,
  { offer, seen, nowS }: JudgeContext & { offer: SteamOffer },
): World {
  const trade = seen.trades.find(({ id }) => id === offer.tradeId)
  if (!trade) return world
  const settlesAtS = trade.settlesAtS
  const items = itemsOf(world, deal).map((item): Listing => {
    const outcome: Outcome = {
      kind: 'settling',
      soldAtS: deal.madeAtS,
      received: Math.floor(item.price * SELLER_SHARE),
      settlesAtS,
      tradeId: trade.id,
    }
    return { ...item, status: 'given', changedAtS: nowS, outcome }
  })
  const ended = withDeal(withItems(world, items), { ...deal, state: 'given', offerId: offer.id })
  return changeSeller(ended, deal.seller, (seller) => ({
    ...seller,
    missed: 0,
    settling: seller.settling + sum(items),
  }))
}

function failDeal(world: World, deal: Deal, { isMissed, nowS }: { isMissed: boolean; nowS: number }): World {
  const items = itemsOf(world, deal).map((item): Listing => {
    const outcome: Outcome = {
      kind: 'timed_out',
      soldAtS: deal.madeAtS,
      received: 0,
      settlesAtS: 0,
      tradeId: '',
    }
    return { ...item, status: 'cancelled', changedAtS: nowS, outcome }
  })
  const ended = withDeal(withItems(world, items), { ...deal, state: 'failed' })
  if (!isMissed) return ended
  return changeSeller(ended, deal.seller, (seller) => {
    const missed = seller.missed + 1
    return missed < MISSES_BEFORE_BAN
      ? { ...seller, missed }
      : { ...seller, missed: 0, bannedUntilS: Math.max(seller.bannedUntilS, nowS + BAN_AFTER_MISSES_S) }
  })
}

function judgeGiven(world: World, deal: Deal, { seen, nowS }: JudgeContext): World {
  const { trades, isLate = false } = seen
  const items = itemsOf(world, deal)
  const settling = items.filter(({ outcome }) => outcome?.kind === 'settling')
  const reversible = isLate ? items.filter(({ outcome }) => outcome?.kind === 'paid') : settling
  const [first] = reversible
  const trade = trades.find(({ id }) => id === first?.outcome?.tradeId)
  const noticedAtS = isLate ? Number(first?.changedAtS) + NOTICED_AFTER_S : 0
  if (trade && REVERSED.has(trade.status) && noticedAtS <= nowS)
    return reverseDeal(world, deal, { reversed: reversible, nowS })
  const isDue = settling.some(({ outcome }) => Number(outcome?.settlesAtS) <= nowS)
  return isDue ? payDeal(world, deal, { settling, nowS }) : world
}

function payDeal(world: World, deal: Deal, { settling, nowS }: { settling: Listing[]; nowS: number }): World {
  const items = settling.map((item) => withOutcome(item, { kind: 'paid' }, nowS))
  const amount = sum(settling)
  return changeSeller(withItems(world, items), deal.seller, (seller) => ({
    ...seller,
    settling: seller.settling - amount,
    free: seller.free + amount,
  }))
}

/** Records a reversal. The seller has the items back under their old ids, and cannot list them for seven days. */
function reverseDeal(
  world: World,
  deal: Deal,
  { reversed, nowS }: { reversed: Listing[]; nowS: number },
): World {
  const causer = deal.reversing ?? 'buyer'
  const items = reversed.map((item) =>
    withOutcome(
      item,
      { kind: 'reversed', causer, refund: causer === 'buyer' ? Math.floor(item.price * REVERSAL_SHARE) : 0 },
      nowS,
    ),
  )
  const refund = items.reduce((all, { outcome }) => all + (outcome?.refund ?? 0), 0)
  const paid = reversed.filter(({ outcome }) => outcome?.kind === 'paid')
  const blocked = reversed.map(({ assetId }) => ({ assetId, untilS: nowS + BLOCKED_S }))
  return changeSeller(withItems(world, items), deal.seller, (seller) => ({
    ...seller,
    settling: seller.settling - (sum(reversed) - sum(paid)),
    free: seller.free - sum(paid) + refund,
    blocked: [...seller.blocked, ...blocked],
    bannedUntilS:
      causer === 'seller' ? Math.max(seller.bannedUntilS, nowS + BAN_AFTER_REVERSAL_S) : seller.bannedUntilS,
  }))
}

function withOutcome(item: Listing, change: Partial<Outcome>, nowS: number): Listing {
  return item.outcome ? { ...item, changedAtS: nowS, outcome: { ...item.outcome, ...change } } : item
}

const sum = (items: readonly Listing[]): number =>
  items.reduce((all, { outcome }) => all + (outcome?.received ?? 0), 0)
