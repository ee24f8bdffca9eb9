/** A model of Steam as the account that sells has it: its items, and the offers that give them. */
import { type Gift, type Hands, isSameSet, type SeenOffer } from '../../vault/giving/gift.ts'
import type { OwnItem } from '../../vault/steam/look.ts'
import { hold } from '../simulation/violation.ts'
import type { Luck } from './luck.ts'

export const GAMES = [570, 730] as const
export const MINUTE_MS = 60_000
export const DAY_MS = 86_400_000

export type Asset = {
  appId: number
  assetId: string
  name: string
  isAway: boolean
  /** Until then under protection. */
  freeAtMs: number
  costCents: bigint
}
export type Offer = {
  offerId: string
  gift: Gift
  seen: SeenOffer
  /** The content of a stale read. */
  before: SeenOffer
  listedAtMs: number
  buyer: 'accepts' | 'declines' | 'counters' | 'ignores' | 'is held'
  actsAtMs: number
}

const unanswered = { kind: 'unanswered' } as const

export class ModelSteam {
  readonly assets: Asset[] = []
  readonly offers: Offer[] = []
  /** Whether a market still waits for what such an offer gives. */
  isWanted: (gift: Gift) => boolean = () => true
  readonly #luck: Luck
  readonly #nowMs: () => number
  #lastId = 1_000

  constructor(luck: Luck, nowMs: () => number) {
    this.#luck = luck
    this.#nowMs = nowMs
  }

  newId(): string {
    this.#lastId += 1
    return String(this.#lastId)
  }

  bring({ appId, name, costCents, protectedMs }: Bring): Asset {
    const freeAtMs = this.#nowMs() + protectedMs
    const asset = { appId, assetId: this.newId(), name, isAway: false, freeAtMs, costCents }
    this.assets.push(asset)
    return asset
  }

  assetOf(assetId: string): Asset | undefined {
    return this.assets.find((asset) => asset.assetId === assetId)
  }

  isFree({ isAway, freeAtMs }: Asset): boolean {
    return !isAway && this.#nowMs() >= freeAtMs
  }

  async freeItems(appId: number): Promise<ReadonlyMap<string, OwnItem> | undefined> {
    const effect = (): Map<string, OwnItem> =>
      new Map(
        this.assets
          .filter((asset) => asset.appId === appId && this.isFree(asset))
          .map(({ assetId, name }) => [assetId, { assetId, marketHashName: name, isTradable: true }]),
      )
    return this.#luck.call('Steam', { effect, lost: undefined })
  }

  readonly hands: Hands = {
    send: async (gift) => this.#luck.call('Steam', { effect: () => this.#send(gift), lost: unanswered }),
    find: async (gift) => this.#luck.call('Steam', { effect: () => this.#find(gift), lost: unanswered }),
    read: async (offerId) => this.#luck.call('Steam', { effect: () => this.#read(offerId), lost: undefined }),
    confirm: async (offerId, gift) =>
      this.#luck.call('Steam', { effect: () => this.#confirm(offerId, gift), lost: false }),
    cancel: async (offerId) =>
      this.#luck.call('Steam', { effect: () => this.#cancel(offerId), lost: undefined }),
    hasGiven: async (steamTradeId, gift) =>
      this.#luck.call('Steam', {
        effect: () =>
          this.offers.some(
            ({ seen, gift: given }) =>
              seen.state === 'accepted' &&
              seen.steamTradeId === steamTradeId &&
              given.partnerSteamId === gift.partnerSteamId &&
              isSameSet(given.assets, gift.assets),
          ),
        lost: false,
      }),
  }

  /** Buyers do what they do. */
  act(): void {
    for (const offer of this.offers) {
      if (this.#nowMs() < offer.actsAtMs) continue
      if (offer.seen.state === 'in_escrow') this.#accept(offer)
      if (offer.seen.state !== 'active') continue
      if (offer.buyer === 'accepts') this.#accept(offer)
      else if (offer.buyer === 'declines') this.#change(offer, { state: 'ended', how: 'declined' })
      else if (offer.buyer === 'counters') this.#change(offer, { state: 'ended', how: 'countered' })
      else if (offer.buyer === 'is held') {
        this.#change(offer, { state: 'in_escrow' })
        offer.actsAtMs = this.#nowMs() + 15 * DAY_MS
      }
    }
  }

  #send(gift: Gift): Awaited<ReturnType<Hands['send']>> {
    const assets = gift.assets.map(({ assetId }) => this.assetOf(assetId))
    const isOurs = assets.every((asset) => asset !== undefined && this.isFree(asset))
    if (!isOurs || this.#luck.hits('offer refused', 0.02)) return { kind: 'refused', because: 'refused' }
    const nowMs = this.#nowMs()
    const seen: SeenOffer = { state: 'needs_confirmation' }
    const isLate = this.#luck.hits('offer listed late', 0.1)
    const listedAtMs = nowMs + (isLate ? MINUTE_MS : 0)
    const offer = { offerId: this.newId(), gift, seen, before: seen, listedAtMs, ...this.#mood(nowMs) }
    this.offers.push(offer)
    this.#luck.trace.add(`offer ${offer.offerId}: ${gift.message}`)
    return { kind: 'sent', offerId: offer.offerId }
  }

  #mood(nowMs: number): Pick<Offer, 'buyer' | 'actsAtMs'> {
    const { random } = this.#luck
    const soon = nowMs + random.int(4 * MINUTE_MS)
    if (this.#luck.hits('buyer declines', 0.05)) return { buyer: 'declines', actsAtMs: soon }
    if (this.#luck.hits('buyer counters', 0.05)) return { buyer: 'counters', actsAtMs: soon }
    if (this.#luck.hits('buyer never accepts', 0.05)) return { buyer: 'ignores', actsAtMs: soon }
    if (this.#luck.hits('offer held by Steam', 0.04)) return { buyer: 'is held', actsAtMs: soon }
    const isLate = this.#luck.hits('buyer accepts after the market gave up', 0.1)
    return { buyer: 'accepts', actsAtMs: isLate ? nowMs + 7 * MINUTE_MS + random.int(3 * MINUTE_MS) : soon }
  }

  #find(gift: Gift): Awaited<ReturnType<Hands['find']>> {
    const found = this.offers.find(
      (offer) => isSameGift(offer.gift, gift) && this.#nowMs() >= offer.listedAtMs,
    )
    return found ? { kind: 'found', offerId: found.offerId } : { kind: 'none' }
  }

  #read(offerId: string): SeenOffer | undefined {
    const offer = this.offers.find((each) => each.offerId === offerId)
    if (offer === undefined) return undefined
    const isStale = offer.before.state !== offer.seen.state
    return isStale && this.#luck.hits('stale read of an offer', 0.2) ? offer.before : offer.seen
  }

  #confirm(offerId: string, gift: Gift): boolean {
    const offer = this.offers.find((each) => each.offerId === offerId)
    if (offer === undefined || !isSameGift(offer.gift, gift)) return false
    if (offer.seen.state === 'needs_confirmation') {
      hold(this.isWanted(gift), 'I20', () => `offer ${offerId} is confirmed for a deal that is off`)
      this.#change(offer, { state: 'active' })
    }
    return offer.seen.state === 'active'
  }

  #cancel(offerId: string): void {
    const offer = this.offers.find((each) => each.offerId === offerId)
    if (offer?.seen.state !== 'active' && offer?.seen.state !== 'needs_confirmation') return
    if (offer.seen.state === 'active' && this.#luck.hits('cancel loses to an accept', 0.3))
      this.#accept(offer)
    else this.#change(offer, { state: 'ended', how: 'withdrawn' })
  }

  #accept(offer: Offer): void {
    const assets = offer.gift.assets.flatMap(({ assetId }) => this.assetOf(assetId) ?? [])
    hold(
      assets.length === offer.gift.assets.length && assets.every((asset) => this.isFree(asset)),
      'I21',
      () => `offer ${offer.offerId} gives what was given before`,
    )
    for (const asset of assets) asset.isAway = true
    this.#change(offer, { state: 'accepted', steamTradeId: this.newId() })
  }

  #change(offer: Offer, seen: SeenOffer): void {
    offer.before = offer.seen
    offer.seen = seen
    this.#luck.trace.add(`offer ${offer.offerId} ${JSON.stringify(seen)}`)
  }
}

export type Bring = { appId: number; name: string; costCents: bigint; protectedMs: number }

export const isSameGift = (one: Gift, other: Gift): boolean =>
  one.partnerSteamId === other.partnerSteamId &&
  one.message === other.message &&
  isSameSet(one.assets, other.assets)
