/**
 * A market and a Steam in memory. The market may lie. Answers may be lost, and the vault's process may die during a
 * call.
 */
import type { Gift, GiftOffers, SeenOffer } from '../giving/gift.ts'
import type { Alarm } from '../markets/alarm.ts'
import { bookOf, createFold, type DatedEntry, type Journal } from '../markets/book.ts'
import type { DueGift, Market, MarketAnswer, Outcome, Row } from '../markets/market.ts'
import { type Scale, scaleOf } from '../markets/scale.ts'
import { createSeller } from '../markets/seller.ts'

export const APP = 570
export const BUYER = '76561198000000001'
const OWN_ACCOUNT = '76561198000000009'
const MARKET_SCALE = dollarScale()

/** Thrown by a call during which the process of the vault dies. */
export class Killed extends Error {}

/**
 * A fault of a call: the process dies, or the answer is lost, before or after the call's effect. `late`: the answer is
 * lost, and the effect comes half a minute later. `no_session`: the account has no session for a send, so Steam makes
 * no offer; for any other call, this is no fault.
 */
export type Mishap =
  | 'none'
  | 'kill_before'
  | 'kill_after'
  | 'lost_before'
  | 'lost_after'
  | 'late'
  | 'no_session'
const LATE_MS = 30_000
/**
 * `leftS`: the seconds left to hand over the items when the offer was sent. `confirmLeftS`: the fewest seconds left at
 * a confirmation by a process that had heard of the deal from the market. Infinity if there was none.
 */
type Offer = { offerId: string; gift: Gift; seen: SeenOffer; leftS: number; confirmLeftS: number }
type MarketItem = {
  itemId: string
  assetId: string
  /** In cents. */
  price: bigint
  stage: Row['stage']
  deal?: string
  end?: Outcome['end']
}
/**
 * A lie of the market about the item, the number of items, the buyer (who is then one of our accounts), the message or
 * the price. `swap`: the market gives a different buyer than before. `empty`: it shows no listings.
 */
export type Lie = 'asset' | 'more' | 'partner' | 'message' | 'price' | 'swap' | 'empty'

const answered = <T>(value: T): MarketAnswer<T> => ({ kind: 'answered', value })

/** Everything outside the vault, and the faults of the next calls. */
export function createOutside(order: Market['order'] = 'confirm_then_report') {
  let nowMs = 1_800_000_000_000
  let lastId = 100
  let mishaps: Mishap[] = []
  let lie: Lie | undefined
  /** The asset ids that the account still has. */
  const owned = new Set(['1', '2', '3'])
  const items: MarketItem[] = []
  const deals = new Map<string, { due: DueGift; soldAtMs: number }>()
  const offers: Offer[] = []
  const calledOff = new Set<string>()
  /** The deals that the market has reported to the newest process of the vault. */
  const reportedDeals = new Set<string>()
  const entries: DatedEntry[] = []
  const alarms: Alarm[] = []
  const now = () => new Date(nowMs)
  /** Effects that are yet to come, and when. */
  let lateEffects: { atMs: number; effect: () => unknown }[] = []

  /** Runs an effect. Its answer may be lost, or the process may die before or after it. */
  function call<T, L>(effect: () => T, lostAnswer: L): T | L {
    const mishap = mishaps.shift() ?? 'none'
    if (mishap === 'kill_before') throw new Killed()
    if (mishap === 'lost_before') return lostAnswer
    if (mishap === 'late') {
      lateEffects.push({ atMs: nowMs + LATE_MS, effect })
      return lostAnswer
    }
    const answer = effect()
    if (mishap === 'kill_after') throw new Killed()
    return mishap === 'lost_after' ? lostAnswer : answer
  }
  const lost = { kind: 'unanswered', because: 'lost' } as const

  const market: Market = {
    name: 'm',
    games: [APP],
    order,
    ready: async () => answered({ problems: [], feeBp: null }),
    keepOnline: async () => answered(null),
    setTradeToken: async () => answered(null),
    close() {},
    refresh: async () => answered(null),
    money: async () => answered({ freeMinor: 0n, settlingMinor: 0n, currency: 'USD' }),
    lowestPrices: async () => answered(new Map()),
    reprice: async (_, lines) =>
      call(
        () =>
          answered(
            lines.map(({ itemId, priceMinor }) => {
              const item = items.find((each) => each.itemId === itemId && each.stage === 'on_sale')
              if (item !== undefined) item.price = priceMinor
              return { itemId, isDone: item !== undefined }
            }),
          ),
        lost,
      ),
    list: async (_, lines, begin) => {
      await begin?.(lines)
      return call(
        () =>
          answered(
            lines.map(({ assetId, priceMinor }) => {
              const isThere = items.some((item) => item.assetId === assetId && isOpen(item))
              if (isThere || !owned.has(assetId))
                return { kind: 'refused' as const, assetId, code: 'item_not_inserted', retry: false }
              lastId += 1
              items.push({ itemId: String(lastId), assetId, price: priceMinor, stage: 'on_sale' })
              return { kind: 'listed' as const, assetId, itemId: String(lastId) }
            }),
          ),
        lost,
      )
    },
    unlist: async (_, itemIds) =>
      call(
        () =>
          answered(
            itemIds.map((itemId) => {
              const item = items.find((each) => each.itemId === itemId)
              if (item?.stage === 'on_sale') item.stage = 'cancelled'
              return { itemId, isDone: item?.stage === 'cancelled' }
            }),
          ),
        lost,
      ),
    round: async () => {
      const answer = await call(() => {
        if (lie === 'empty') return answered({ rows: [], due: [] })
        const rows = items.filter(isShown).map(({ itemId, assetId, price, stage, deal }) => ({
          itemId,
          assetId,
          stage,
          leftS: deal === undefined ? null : leftS(deal),
          price: Number(price * 10n) / (lie === 'price' ? 2 : 1),
        }))
        const due = [...deals.values()].filter(({ due: { dealId } }) => leftS(dealId) > 0 && !isOver(dealId))
        return answered({ rows, due: due.map((each) => claimOf(each.due)) })
      }, lost)
      if (answer.kind === 'answered') for (const { dealId } of answer.value.due) reportedDeals.add(dealId)
      return answer
    },
    isWanted: async ({ dealId }) => call(() => answered(!calledOff.has(dealId)), lost),
    isCalledOff: async ({ dealId }) => call(() => calledOff.has(dealId), false),
    reportOffer: async (_, { offerId }) =>
      call(() => {
        const offer = offers.find((each) => each.offerId === offerId)
        const isReady = order === 'report_then_confirm' || offer?.seen.state !== 'needs_confirmation'
        return offer && isReady
          ? answered(null)
          : ({ kind: 'refused', code: 'error not active offers' } as const)
      }, lost),
    outcomes: async () =>
      call(
        () => answered(items.flatMap(({ itemId, end }) => (end ? [{ itemId, soldAt: now(), end }] : []))),
        lost,
      ),
  }

  const isOpen = ({ stage }: MarketItem): boolean => stage !== 'cancelled' && stage !== 'given'
  /** The market still lists what was cancelled, as market.csgo.com does for a while. */
  const isShown = ({ stage }: MarketItem): boolean => stage !== 'given'
  const leftS = (dealId: string) => Math.max(0, 300 - (nowMs - (deals.get(dealId)?.soldAtMs ?? 0)) / 1000)
  const isOver = (dealId: string) =>
    items.some(({ deal, stage }) => deal === dealId && (stage === 'given' || stage === 'cancelled'))
  const isSold = (assetId: string) => items.some((item) => item.assetId === assetId && item.stage === 'sold')
  const asset = (assetId: string) => ({ appId: APP, contextId: '2', assetId })

  /** The deal as the market describes it, with its lie. */
  function claimOf(due: DueGift): DueGift {
    switch (lie) {
      case 'asset':
        return { ...due, assets: [asset('99')] }
      case 'more':
        // Asking for item 3 would not be a lie if it was sold too.
        return isSold('3') ? due : { ...due, assets: [...due.assets, asset('3')] }
      case 'partner':
        return { ...due, partnerSteamId: OWN_ACCOUNT }
      case 'message':
        return { ...due, message: 'K7MXPQ' }
      case 'swap':
        return { ...due, partnerSteamId: '76561198000000666' }
      default:
        return due
    }
  }

  const textOf = (gift: Gift) =>
    [gift.partnerSteamId, gift.message, ...gift.assets.map(({ assetId }) => assetId).sort()].join('/')
  const dealOf = (gift: Gift) => [...deals.values()].find(({ due }) => textOf(due) === textOf(gift))?.due
  const giftOffers: GiftOffers = {
    send: async (gift, isStillAllowed) => {
      if (isStillAllowed?.() === false) return { kind: 'refused', because: 'too late', notMade: true }
      if (mishaps[0] === 'no_session') {
        mishaps.shift()
        return { kind: 'refused', because: 'no session', notMade: true }
      }
      const deal = dealOf(gift)
      const terms = { gift, leftS: deal === undefined ? 0 : leftS(deal.dealId), confirmLeftS: Infinity }
      return call(
        () => {
          if (!gift.assets.every(({ assetId }) => owned.has(assetId)))
            return { kind: 'refused' as const, because: 'item_gone' }
          lastId += 1
          offers.push({ offerId: String(lastId), ...terms, seen: { state: 'needs_confirmation' } })
          return { kind: 'sent' as const, offerId: String(lastId) }
        },
        { kind: 'unanswered' as const },
      )
    },
    find: async (gift) =>
      call(
        () => {
          const found = offers.find((offer) => textOf(offer.gift) === textOf(gift))
          return found ? { kind: 'found' as const, offerId: found.offerId } : { kind: 'none' as const }
        },
        { kind: 'unanswered' as const },
      ),
    read: async (offerId) => call(() => offers.find((each) => each.offerId === offerId)?.seen, undefined),
    confirm: async (offerId, gift, isStillAllowed) => {
      if (isStillAllowed?.() === false) return false
      const offer = offers.find((each) => each.offerId === offerId)
      const deal = dealOf(gift)
      if (offer && deal && reportedDeals.has(deal.dealId))
        offer.confirmLeftS = Math.min(offer.confirmLeftS, leftS(deal.dealId))
      return call(() => {
        if (!offer || textOf(offer.gift) !== textOf(gift)) return false
        if (offer.seen.state === 'needs_confirmation') offer.seen = { state: 'active' }
        return true
      }, false)
    },
    cancel: async (offerId) =>
      call(() => {
        const offer = offers.find((each) => each.offerId === offerId)
        if (offer && offer.seen.state !== 'accepted') offer.seen = { state: 'ended', how: 'withdrawn' }
      }, undefined),
    checkTrade: async (steamTradeId) =>
      call(() => (steamTradeId.startsWith('t') ? ('given' as const) : undefined), undefined),
  }

  /** Lets the buyers and the market act, without faults. Buyers accept their offers only if `isWilling`. */
  function letOthersAct(isWilling: boolean): void {
    for (const offer of offers) {
      if (
        isWilling &&
        offer.seen.state === 'active' &&
        offer.gift.assets.every((each) => owned.has(each.assetId))
      ) {
        for (const { assetId } of offer.gift.assets) owned.delete(assetId)
        offer.seen = { state: 'accepted', steamTradeId: `t${offer.offerId}` }
      }
      const deal = dealOf(offer.gift)
      if (deal && offer.seen.state === 'accepted')
        end(deal.dealId, 'given', { kind: 'paid', receivedMinor: 95n })
    }
    for (const dealId of deals.keys())
      if (leftS(dealId) === 0 && !hasOpenOffer(dealId)) end(dealId, 'cancelled', { kind: 'cancelled' })
  }
  const hasOpenOffer = (dealId: string) => {
    const due = deals.get(dealId)?.due
    return (
      due !== undefined &&
      offers.some((offer) => textOf(offer.gift) === textOf(due) && offer.seen.state !== 'ended')
    )
  }
  function end(dealId: string, stage: Row['stage'], how: Outcome['end']): void {
    for (const item of items.filter(
      ({ deal, stage: current }) => deal === dealId && current !== stage && current !== 'given',
    )) {
      item.stage = stage
      item.end = how
    }
  }

  return {
    owned,
    items,
    deals,
    offers,
    entries,
    alarms,
    letOthersAct,
    book: () => bookOf(entries),
    market,
    giftOffers,
    /** Sets the faults of the next calls, and the lie of the market. */
    plan: (nextMishaps: Mishap[], nextLie?: Lie) => {
      mishaps = [...nextMishaps]
      lie = nextLie
    },
    /** Makes the market call off every deal. */
    callOff(): void {
      for (const dealId of deals.keys()) {
        calledOff.add(dealId)
        end(dealId, 'cancelled', { kind: 'cancelled' })
      }
    },
    advanceS: (seconds: number) => {
      nowMs += seconds * 1000
      const dueEffects = lateEffects.filter(({ atMs }) => atMs <= nowMs)
      lateEffects = lateEffects.filter(({ atMs }) => atMs > nowMs)
      for (const { effect } of dueEffects) effect()
    },
    /** Lets one buyer buy up to `count` items on sale, in one deal. */
    buy(count: number): void {
      const bought = items.filter(({ stage }) => stage === 'on_sale').slice(0, count)
      if (bought.length === 0) return
      lastId += 1
      const dealId = `h${lastId}`
      const assets = bought.map(({ assetId }) => asset(assetId))
      const due = { dealId, partnerSteamId: BUYER, token: 'AbC12-_x', message: `deal ${lastId}`, assets }
      deals.set(dealId, { due, soldAtMs: nowMs })
      for (const item of bought) {
        item.stage = 'sold'
        item.deal = dealId
      }
    },
    /** A process of the vault. It starts from the journal, and may be killed. */
    seller({
      hasRoom = () => true,
      announce = async () => {},
    }: {
      hasRoom?: () => boolean
      announce?: () => Promise<void>
    } = {}) {
      reportedDeals.clear()
      return createSeller({
        hasRoom,
        announce,
        marketAccount: { market: market.name, account: OWN_ACCOUNT, isFirst: true },
        market,
        giftOffers,
        scale: MARKET_SCALE,
        journal: journalOf(entries, now),
        ownAccounts: new Set([OWN_ACCOUNT]),
        now,
        alarm: (alarm) => void alarms.push(alarm),
      })
    },
  }
}

function dollarScale(): Scale {
  const scale = scaleOf('USD')
  if (scale === undefined) throw new Error('dollars have no scale')
  return scale
}

/** The journal of a process that has just read it. */
function journalOf(entries: DatedEntry[], now: () => Date): Journal {
  const { book, add } = createFold()
  for (const dated of entries) add(dated)
  return {
    book: () => book,
    add(entry) {
      const dated = { at: now(), entry }
      entries.push(dated)
      add(dated)
    },
  }
}

export type Outside = ReturnType<typeof createOutside>

/** Lets a process of the vault, by default a new one, do each step once. Ends early if a fault kills the process. */
export async function runVault(out: Outside, seller = out.seller()): Promise<void> {
  const lines = ['1', '2', '3'].map((assetId) => ({ assetId, priceMinor: 100n }))
  try {
    await seller.list(APP, lines)
    await seller.round(APP)
    await seller.advance()
    await seller.followMoney(APP, new Date(0))
  } catch (error) {
    if (!(error instanceof Killed)) throw error
  }
}
