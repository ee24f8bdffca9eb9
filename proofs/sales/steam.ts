/** A model of Steam: items change hands by offers, and calls meet faults. */
import { PROTECTED_APP } from '../../steam-sandbox/world/world.ts'
import type { EndedOffer, Gift, GiftOffers, SeenOffer } from '../../vault/giving/gift.ts'
import { isSameSet } from '../../vault/giving/gift.ts'
import type { SteamCalls } from '../../vault/giving/giver.ts'
import type { OwnItem } from '../../vault/steam/look.ts'
import { must } from '../simulation/violation.ts'
import type { Luck } from './luck.ts'

export const GAMES = [570, 730] as const
export const MINUTE_MS = 60_000
export const DAY_MS = 86_400_000
/**
 * How long a trade of the protected game can be taken back. Steam's week would usually outlast the part of a run in which
 * calls have faults.
 */
export const PROTECTED_MS = DAY_MS / 4

/** How long an offer is in escrow. */
const ESCROW_MS = 15 * DAY_MS

/** One item, whoever owns it. Steam gives it a new id with each delivery. */
export type Thing = {
  appId: number
  assetId: string
  name: string
  owner: string
  /** End of its protection. */
  freeAtMs: number
  /** The credit that the shopper got for it. */
  costCents: bigint
  /** The trade by which a shopper gave it to a bot. */
  broughtBy: string
}

/** An item of a trade: its ids before and after, and whether the trade was taken back. */
export type Moved = { thing: Thing; assetId: string; newAssetId: string; isBack: boolean }
export type Trade = {
  tradeId: string
  from: string
  to: string
  beganAtMs: number
  state: 'in_escrow' | 'complete' | 'failed' | 'rolled_back'
  settlesAtMs: number | null
  items: readonly Moved[]
}

export type Offer = {
  offerId: string
  from: string
  gift: Gift
  seen: SeenOffer
  /** The state before the last change, which a stale read shows. */
  before: SeenOffer
  sentAtMs: number
  listedAtMs: number
  /** The partner's plan. `accepts into escrow`: Steam holds the items for days. */
  partner: 'accepts' | 'declines' | 'counters' | 'ignores' | 'accepts into escrow'
  /** When the partner acts; once the offer is in escrow, when the escrow ends. */
  actsAtMs: number
  trade?: Trade
}

export type BroughtItem = Pick<Thing, 'appId' | 'name' | 'costCents' | 'owner' | 'broughtBy'> & {
  protectedMs: number
}

const unanswered = { kind: 'unanswered' } as const

export class ModelSteam {
  readonly things: Thing[] = []
  readonly offers: Offer[] = []
  readonly trades: Trade[] = []
  /** The giver and the items of each trade, as in the till's deposits. */
  readonly deposits = new Map<string, { from: string; assetIds: string[] }>()
  /** Whether somebody still waits for the items of this offer. */
  isWanted: (offer: Offer) => boolean = () => true
  readonly #luck: Luck
  readonly nowMs: () => number
  readonly #ours: ReadonlySet<string>
  /** The first digit, 5, marks ids at a bot. Without it, the id is the one that the item had at the shopper. */
  #lastId = 5_001_000

  constructor(luck: Luck, nowMs: () => number, ours: ReadonlySet<string>) {
    this.#luck = luck
    this.nowMs = nowMs
    this.#ours = ours
  }

  newId(): string {
    this.#lastId += 1
    return String(this.#lastId)
  }

  /** Adds an item that a shopper has given. */
  bring({ protectedMs, ...rest }: BroughtItem): Thing {
    const thing = { ...rest, assetId: this.newId(), freeAtMs: this.nowMs() + protectedMs }
    this.things.push(thing)
    return thing
  }

  thingOf(assetId: string): Thing | undefined {
    return this.things.find((thing) => thing.assetId === assetId)
  }

  isFree({ freeAtMs }: Thing): boolean {
    return this.nowMs() >= freeAtMs
  }

  /** The calls of one account, as the vault makes them. */
  callsOf(account: string): SteamCalls {
    return {
      giftOffers: this.#giftOffers(account),
      isLoginRefused: () => false,
      freeItems: (appId) =>
        this.#luck.call('Steam', { effect: () => this.#freeItems(account, appId), lost: undefined }),
      giverOf: (steamTradeId, assets) =>
        this.#luck.call('Steam', {
          effect: () => {
            const deposit = this.deposits.get(steamTradeId)
            const isAll = assets.every(({ assetId }) => deposit?.assetIds.includes(assetId) === true)
            return isAll ? deposit?.from : undefined
          },
          lost: undefined,
        }),
      accept: ({ offerId, fromSteamId, gift }) =>
        this.#luck.call('Steam', {
          effect: () => {
            const offer = this.#offer(offerId)
            const isMeant = offer?.from === fromSteamId && offer.gift.partnerSteamId === account
            if (isMeant && isSameGift(offer.gift, gift) && offer.seen.state === 'active') this.#accept(offer)
          },
          lost: undefined,
        }),
    }
  }

  #giftOffers(account: string): GiftOffers {
    const call = <T, L>(effect: () => T, lost: L) => this.#luck.call('Steam', { effect, lost })
    return {
      send: (gift) => call(() => this.#send(account, gift), unanswered),
      find: (gift) => call(() => this.#find(account, gift), unanswered),
      read: (offerId) => call(() => this.#read(offerId), undefined),
      confirm: (offerId, gift) => call(() => this.#confirm(offerId, gift), false),
      cancel: (offerId) => call(() => this.#cancel(offerId), undefined),
      checkTrade: (steamTradeId, gift) =>
        call(() => this.#checkTrade(account, { steamTradeId, gift }), undefined),
    }
  }

  #freeItems(account: string, appId: number): Map<string, OwnItem> {
    return new Map(
      this.things
        .filter((thing) => thing.owner === account && thing.appId === appId && this.isFree(thing))
        .map(({ assetId, name }) => [assetId, { assetId, marketHashName: name, isTradable: true }]),
    )
  }

  /** Lets partners answer offers, and delivers the items that Steam has held long enough. */
  act(): void {
    const nowMs = this.nowMs()
    for (const offer of this.offers) {
      if (nowMs < offer.actsAtMs) continue
      const { seen, trade } = offer
      if (seen.state === 'in_escrow' && trade !== undefined) this.#deliver(offer, trade)
      if (seen.state !== 'active' || this.#ours.has(offer.gift.partnerSteamId)) continue
      if (offer.partner === 'accepts') this.#accept(offer)
      else if (offer.partner === 'declines') this.#end(offer, 'declined')
      else if (offer.partner === 'counters') this.#end(offer, 'countered')
      else if (offer.partner === 'accepts into escrow') this.#putInEscrow(offer)
    }
  }

  /**
   * Gives the items back under their old ids. Returns false if the trade is not complete, or if an item is no longer
   * where the trade brought it.
   */
  takeBack(trade: Trade): boolean {
    if (trade.state !== 'complete') return false
    const isThere = trade.items.every(({ thing, newAssetId }) => thing.assetId === newAssetId)
    if (!isThere) return false
    trade.state = 'rolled_back'
    // Nobody knows whether Steam protects items that came back, so both happen.
    const freeAtMs = this.nowMs() + (this.#luck.random.chance(0.5) ? PROTECTED_MS : 0)
    for (const item of trade.items) {
      item.isBack = true
      Object.assign(item.thing, { owner: trade.from, assetId: item.assetId, freeAtMs })
    }
    this.#luck.trace.add(`trade ${trade.tradeId} is taken back`)
    return true
  }

  #offer(offerId: string): Offer | undefined {
    return this.offers.find((each) => each.offerId === offerId)
  }

  #send(from: string, gift: Gift): Awaited<ReturnType<GiftOffers['send']>> {
    const isGivable = this.#givableThings(from, gift).length === gift.assets.length
    if (!isGivable || this.#luck.hits('offer refused', 0.02)) return { kind: 'refused', because: 'refused' }
    if (this.#luck.hits('too many open offers', 0.05))
      return { kind: 'refused', because: 'Steam (25)', result: 25 }
    const nowMs = this.nowMs()
    const seen: SeenOffer = { state: 'needs_confirmation' }
    const listedAtMs = nowMs + (this.#luck.hits('offer listed late', 0.1) ? MINUTE_MS : 0)
    const terms = { from, gift, seen, before: seen, sentAtMs: nowMs, listedAtMs }
    const offer = { offerId: this.newId(), ...terms, ...this.#planOf(gift, nowMs) }
    this.offers.push(offer)
    this.#luck.trace.add(`offer ${offer.offerId} of ${from.slice(-2)}: ${gift.message.replace(/ x\w+$/, '')}`)
    return { kind: 'sent', offerId: offer.offerId }
  }

  /** The items of the gift that the account has and may give. */
  #givableThings(from: string, { assets }: Gift): Thing[] {
    return assets.flatMap(({ assetId }) => {
      const thing = this.thingOf(assetId)
      return thing !== undefined && thing.owner === from && this.isFree(thing) ? [thing] : []
    })
  }

  #planOf({ partnerSteamId, message }: Gift, nowMs: number): Pick<Offer, 'partner' | 'actsAtMs'> {
    const { random } = this.#luck
    if (this.#ours.has(partnerSteamId)) return { partner: 'ignores', actsAtMs: nowMs }
    const soonMs = nowMs + random.int(4 * MINUTE_MS)
    if (this.#luck.hits('buyer declines', 0.05)) return { partner: 'declines', actsAtMs: soonMs }
    if (this.#luck.hits('buyer counters', 0.05)) return { partner: 'counters', actsAtMs: soonMs }
    // Few offers of wishes go to accounts outside the vault. More of them stay open, or the fault would rarely hit one.
    const isWish = message.startsWith('vault w')
    if (this.#luck.hits('buyer never accepts', isWish ? 0.3 : 0.05))
      return { partner: 'ignores', actsAtMs: soonMs }
    if (this.#luck.hits('offer held by Steam', 0.04))
      return { partner: 'accepts into escrow', actsAtMs: soonMs }
    const isLate = this.#luck.hits('buyer accepts after the market gave up', 0.1)
    return {
      partner: 'accepts',
      actsAtMs: isLate ? nowMs + 7 * MINUTE_MS + random.int(3 * MINUTE_MS) : soonMs,
    }
  }

  #find(from: string, gift: Gift): Awaited<ReturnType<GiftOffers['find']>> {
    const found = this.offers.find(
      (offer) => offer.from === from && isSameGift(offer.gift, gift) && this.nowMs() >= offer.listedAtMs,
    )
    return found ? { kind: 'found', offerId: found.offerId } : { kind: 'none' }
  }

  #read(offerId: string): SeenOffer | undefined {
    const offer = this.#offer(offerId)
    if (offer === undefined) return undefined
    const isStale = offer.before.state !== offer.seen.state
    return isStale && this.#luck.hits('stale read of an offer', 0.2) ? offer.before : offer.seen
  }

  #confirm(offerId: string, gift: Gift): boolean {
    const offer = this.#offer(offerId)
    if (offer === undefined || !isSameGift(offer.gift, gift)) return false
    if (offer.seen.state === 'needs_confirmation') {
      must(this.isWanted(offer), 'I20', () => `offer ${offerId} is confirmed for a deal that is off`)
      this.#change(offer, { state: 'active' })
    }
    return offer.seen.state === 'active'
  }

  #cancel(offerId: string): void {
    const offer = this.#offer(offerId)
    if (offer?.seen.state !== 'active' && offer?.seen.state !== 'needs_confirmation') return
    if (offer.seen.state === 'active' && this.#luck.hits('cancel loses to an accept', 0.3))
      this.#accept(offer)
    else this.#end(offer, 'withdrawn')
  }

  #checkTrade(from: string, { steamTradeId, gift }: { steamTradeId: string; gift: Gift }) {
    const trade = this.trades.find(({ tradeId }) => tradeId === steamTradeId)
    if (trade === undefined || trade.from !== from || trade.to !== gift.partnerSteamId) return undefined
    if (trade.state === 'failed') return 'failed' as const
    const isAll =
      trade.items.length === gift.assets.length &&
      trade.items.every(({ assetId }) => gift.assets.some((asset) => asset.assetId === assetId))
    return isAll && trade.state !== 'in_escrow' ? ('given' as const) : undefined
  }

  #accept(offer: Offer): void {
    const things = this.#givableThings(offer.from, offer.gift)
    must(
      things.length === offer.gift.assets.length,
      'I21',
      () => `offer ${offer.offerId} gives items that were given before`,
    )
    const trade = this.#beginTrade(offer, things)
    if (this.#luck.hits('trade fails after it was accepted', 0.02)) {
      trade.state = 'failed'
      this.#change(offer, { state: 'accepted', steamTradeId: trade.tradeId })
    } else this.#deliver(offer, trade)
  }

  #beginTrade(offer: Offer, things: readonly Thing[]): Trade {
    const items = things.map((thing) => {
      return { thing, assetId: thing.assetId, newAssetId: '', isBack: false }
    })
    const terms = { from: offer.from, to: offer.gift.partnerSteamId, beganAtMs: this.nowMs() }
    const trade: Trade = { tradeId: this.newId(), ...terms, state: 'in_escrow', settlesAtMs: null, items }
    this.trades.push(trade)
    offer.trade = trade
    return trade
  }

  /** Until the escrow ends, nobody has the offer's items. */
  #putInEscrow(offer: Offer): void {
    const things = this.#givableThings(offer.from, offer.gift)
    this.#beginTrade(offer, things)
    for (const thing of things) thing.owner = 'Steam'
    this.#change(offer, { state: 'in_escrow' })
    offer.actsAtMs = this.nowMs() + ESCROW_MS
  }

  #deliver(offer: Offer, trade: Trade): void {
    const isProtected = trade.items.some(({ thing }) => thing.appId === PROTECTED_APP)
    trade.state = 'complete'
    trade.settlesAtMs = isProtected ? this.nowMs() + PROTECTED_MS : null
    for (const item of trade.items) {
      item.newAssetId = this.newId()
      const freeAtMs = isProtected ? this.nowMs() + PROTECTED_MS : this.nowMs()
      Object.assign(item.thing, { owner: trade.to, assetId: item.newAssetId, freeAtMs })
    }
    this.#change(offer, { state: 'accepted', steamTradeId: trade.tradeId })
  }

  #end(offer: Offer, how: EndedOffer): void {
    this.#change(offer, { state: 'ended', how })
  }

  #change(offer: Offer, seen: SeenOffer): void {
    offer.before = offer.seen
    offer.seen = seen
    this.#luck.trace.add(`offer ${offer.offerId} ${JSON.stringify(seen)}`)
  }
}

export const isSameGift = (one: Gift, other: Gift): boolean =>
  one.partnerSteamId === other.partnerSteamId &&
  one.message === other.message &&
  isSameSet(one.assets, other.assets)
