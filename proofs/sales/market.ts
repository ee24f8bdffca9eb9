/** A model of a market. Calls and answers can be lost, some refusals are random, and some answers are lies. */
import type { MarketName } from '../../contract/markets.ts'
import type { DueGift, Line, Listed, Market, MarketAnswer, Outcome, Row } from '../../vault/markets/market.ts'
import { must } from '../simulation/violation.ts'
import type { Luck } from './luck.ts'
import { GAMES, isSameGift, MINUTE_MS, type ModelSteam, type Offer, PROTECTED_MS } from './steam.ts'

const BUYER = '76561198000000001'
const ANOTHER_BUYER = '76561198000000666'
/** A secret code of a deposit. */
const SECRET_CODE = 'K7MXPQ'
/** How long after the sale the market cancels a deal whose offer was not sent, or came to nothing. */
const HAND_OVER_MS = 5 * MINUTE_MS
/** How long after the sale the market cancels a deal whose offer is still open, unless Steam holds it in escrow. */
const GIVES_UP_MS = 11 * MINUTE_MS
/** How long the market takes for a change of prices whose answer is lost. */
const LATE_MS = MINUTE_MS / 2

export type MarketItem = {
  itemId: string
  seller: string
  appId: number
  assetId: string
  priceMinor: bigint
  stage: Row['stage']
  dealId?: string
  end?: Outcome['end']
  /** True once it is decided whether the trade is taken back. */
  isReversalDecided?: boolean
}
type PriceLine = { itemId: string; priceMinor: bigint }
type ModelDeal = { due: DueGift; seller: string; soldAtMs: number; isForged: boolean }
export type Context = {
  luck: Luck
  steam: ModelSteam
  nowMs(): number
  /** The vault's own price of an item, in cents. */
  priceOf(name: string): bigint
  /** Accounts of the operator. */
  ours: ReadonlySet<string>
}

/** The market's fee, and the whole price, in basis points. */
const FEE_BP = 500n
const ALL_BP = 10_000n
const netOf = (priceMinor: bigint): bigint => (priceMinor * (ALL_BP - FEE_BP)) / ALL_BP

const answered = <T>(value: T): MarketAnswer<T> => ({ kind: 'answered', value })
const lost = { kind: 'unanswered', because: 'lost' } as const

export class ModelMarket {
  readonly items: MarketItem[] = []
  readonly deals: ModelDeal[] = []
  readonly name: MarketName
  readonly #order: Market['order']
  /** The fee that the market states; null for markets of the family of market.csgo.com, which state none. */
  readonly #statedFeeBp: bigint | null
  readonly #context: Context
  /** The price changes that the market has yet to make, and when. */
  #lateChanges: { atMs: number; lines: readonly PriceLine[] }[] = []

  constructor(name: MarketName, order: Market['order'], context: Context) {
    this.name = name
    this.#order = order
    this.#statedFeeBp = order === 'report_then_confirm' ? FEE_BP : null
    this.#context = context
  }

  /** The market's port for the account of this seller. */
  port(seller: string): Market {
    const { luck } = this.#context
    const callOverNetwork = async <T>(effect: () => MarketAnswer<T>): Promise<MarketAnswer<T>> => {
      this.#makeLateChanges()
      return luck.call('a market', { effect, lost })
    }
    return {
      name: this.name,
      games: GAMES,
      order: this.#order,
      ready: () => callOverNetwork(() => answered({ problems: [], feeBp: this.#statedFeeBp })),
      keepOnline: () => callOverNetwork(() => answered(null)),
      setTradeToken: () => callOverNetwork(() => answered(null)),
      close() {},
      refresh: () => callOverNetwork(() => answered(null)),
      list: async (appId, lines, begin) => {
        await begin?.(lines)
        return callOverNetwork(() => answered(lines.map((line) => this.#list({ seller, appId, line }))))
      },
      reprice: (_, lines) =>
        callOverNetwork(() => {
          const isLate = luck.hits('market changes prices late', 0.2)
          return isLate ? this.#repriceLater(lines) : answered(lines.map((line) => this.#reprice(line)))
        }),
      unlist: (_, itemIds) => callOverNetwork(() => answered(itemIds.map((itemId) => this.#unlist(itemId)))),
      round: (appId) =>
        callOverNetwork(() => {
          const rows = this.#rows(seller, appId)
          // The real client asks for due deals only if a listing is sold.
          const isEmpty = rows.length > 0 && luck.hits('market shows no listings', 0.02)
          return answered(isEmpty ? { rows: [], due: [] } : { rows, due: this.#due(seller, appId) })
        }),
      isWanted: ({ dealId }) => callOverNetwork(() => answered(this.#isWanted(dealId))),
      reportOffer: (_, { offerId }) => callOverNetwork(() => this.#reportOffer(offerId)),
      outcomes: (appId) => callOverNetwork(() => answered(this.#outcomes(seller, appId))),
      money: () => callOverNetwork(() => answered({ freeMinor: 0n, settlingMinor: 0n, currency: 'USD' })),
      lowestPrices: () => callOverNetwork(() => answered(this.#lowestPrices())),
    }
  }

  /** Lets somebody buy one or two items of a game. */
  buy(): void {
    this.#makeLateChanges()
    const { luck, nowMs, steam } = this.#context
    const first = this.#pickAny(this.items.filter(({ stage }) => stage === 'on_sale'))
    if (first === undefined) return
    const { seller, appId } = first
    const second = this.items.find(
      (each) => each.stage === 'on_sale' && each.seller === seller && each.appId === appId && each !== first,
    )
    const bought = second !== undefined && luck.random.chance(0.3) ? [first, second] : [first]
    const dealId = `d${steam.newId()}`
    const assets = bought.map(({ assetId }) => ({ appId, contextId: '2', assetId }))
    const due = { dealId, partnerSteamId: BUYER, token: 'AbC12-_x', message: `deal ${dealId}`, assets }
    this.deals.push({ due, seller, soldAtMs: nowMs(), isForged: false })
    for (const item of bought) Object.assign(item, { stage: 'sold', dealId })
    luck.trace.add(`${this.name} sold ${dealId}: ${assets.map(({ assetId }) => assetId).join()}`)
  }

  /** Lets the market do what is due, and forge a sale now and then. */
  act(): void {
    const { nowMs, luck, steam } = this.#context
    for (const { due, seller, soldAtMs, isForged } of this.deals) {
      if (isForged) continue
      const dealItems = this.items.filter(({ dealId }) => dealId === due.dealId)
      const offer = steam.offers.find(({ gift, from }) => from === seller && isSameGift(gift, due))
      const isOpen = dealItems.some(({ stage }) => stage === 'sold')
      const isFailed = offer?.trade?.state === 'failed'
      if (isOpen && offer?.seen.state === 'accepted' && !isFailed) this.#settle(dealItems, offer)
      const waitedMs = nowMs() - soldAtMs
      const isSent = offer !== undefined && offer.seen.state !== 'ended' && !isFailed
      const mayStay = isSent && (waitedMs < GIVES_UP_MS || offer.seen.state === 'in_escrow')
      const isLate = waitedMs > HAND_OVER_MS && !mayStay
      if (dealItems.some(({ stage }) => stage === 'sold') && isLate)
        for (const item of dealItems) Object.assign(item, { stage: 'cancelled', end: { kind: 'cancelled' } })
    }
    this.#letTakeBack()
    for (const item of this.items) this.#pay(item)
    this.#forge(luck)
  }

  /** Lets buyers or the seller take whole trades back while Steam protects them. */
  #letTakeBack(): void {
    const { luck, steam, nowMs } = this.#context
    for (const { due } of this.deals) {
      const dealItems = this.items.filter(
        ({ dealId, end }) => dealId === due.dealId && end?.kind === 'settling',
      )
      const trade = steam.offers.find(({ gift }) => isSameGift(gift, due))?.trade
      const [first] = dealItems
      if (first === undefined || trade === undefined || nowMs() >= (trade.settlesAtMs ?? 0)) continue
      if (first.isReversalDecided) continue
      for (const item of dealItems) item.isReversalDecided = true
      const bySeller = luck.hits('reversed by the seller', 0.04)
      if (!bySeller && !luck.hits('reversed by the buyer', 0.06)) continue
      if (!steam.takeBack(trade)) continue
      for (const item of dealItems) {
        const refundMinor = bySeller ? 0n : item.priceMinor / 5n
        item.end = { kind: 'reversed', causer: bySeller ? 'seller' : 'buyer', refundMinor }
      }
    }
  }

  #settle(dealItems: readonly MarketItem[], { trade }: Offer): void {
    const { nowMs, luck } = this.#context
    const isDenied = luck.hits('market says cancelled though it was given', 0.04)
    for (const item of dealItems) {
      const receivedMinor = netOf(item.priceMinor)
      const settlesAt = new Date(trade?.settlesAtMs ?? nowMs() + PROTECTED_MS)
      const end: Outcome['end'] = isDenied
        ? { kind: 'cancelled' }
        : { kind: 'settling', receivedMinor, settlesAt }
      Object.assign(item, { stage: 'given', end })
    }
  }

  #pay(item: MarketItem): void {
    const { nowMs } = this.#context
    if (item.end?.kind !== 'settling' || nowMs() < item.end.settlesAt.getTime()) return
    item.end = { kind: 'paid', receivedMinor: item.end.receivedMinor }
  }

  /** Invents a sale that never happened. */
  #forge(luck: Luck): void {
    const item = this.#pickAny(this.items.filter(({ stage }) => stage === 'on_sale'))
    if (item === undefined || !luck.hits('market says sold what nobody bought', 0.01)) return
    const dealId = `f${this.#context.steam.newId()}`
    const assets = [{ appId: item.appId, contextId: '2', assetId: item.assetId }]
    const due = { dealId, partnerSteamId: BUYER, token: 'AbC12-_x', message: `deal ${dealId}`, assets }
    this.deals.push({ due, seller: item.seller, soldAtMs: this.#context.nowMs(), isForged: true })
  }

  #pickAny<T>(values: readonly T[]): T | undefined {
    return values.length === 0 ? undefined : values[this.#context.luck.random.int(values.length)]
  }

  #list({ seller, appId, line }: { seller: string; appId: number; line: Line }): Listed {
    const { assetId, priceMinor } = line
    const { steam, luck } = this.#context
    const thing = steam.thingOf(assetId)
    must(
      thing !== undefined && thing.owner === seller && steam.isFree(thing),
      'I22',
      () => `${assetId} was listed while protected or gone`,
    )
    this.#checkPrice(assetId, priceMinor)
    if (this.items.some((item) => item.assetId === assetId && isOpen(item)))
      return { kind: 'refused', assetId, code: 'item_not_inserted', retry: false }
    if (luck.hits('market does not take an item', 0.05))
      return { kind: 'refused', assetId, code: 'item_not_in_inventory', retry: luck.random.chance(0.5) }
    const itemId = steam.newId()
    this.items.push({ itemId, seller, appId, assetId, priceMinor, stage: 'on_sale' })
    return { kind: 'listed', assetId, itemId }
  }

  #reprice({ itemId, priceMinor }: PriceLine) {
    const item = this.#onSale(itemId)
    if (item === undefined) return { itemId, isDone: false }
    this.#checkPrice(item.assetId, priceMinor)
    item.priceMinor = priceMinor
    return { itemId, isDone: true }
  }

  #onSale = (itemId: string): MarketItem | undefined =>
    this.items.find((each) => each.itemId === itemId && each.stage === 'on_sale')

  /** Makes the changes only after the vault has given up waiting for the answer. */
  #repriceLater(lines: readonly PriceLine[]): typeof lost {
    for (const { itemId, priceMinor } of lines) {
      const item = this.#onSale(itemId)
      if (item !== undefined) this.#checkPrice(item.assetId, priceMinor)
    }
    this.#lateChanges.push({ atMs: this.#context.nowMs() + LATE_MS, lines })
    return lost
  }

  #makeLateChanges(): void {
    const nowMs = this.#context.nowMs()
    for (const { atMs, lines } of this.#lateChanges) {
      if (atMs > nowMs) continue
      for (const { itemId, priceMinor } of lines) {
        const item = this.#onSale(itemId)
        if (item !== undefined) item.priceMinor = priceMinor
      }
    }
    this.#lateChanges = this.#lateChanges.filter(({ atMs }) => atMs > nowMs)
  }

  /** Checks that a price is at least 80% of the vault's own price, and covers the item's credit after the fee. */
  #checkPrice(assetId: string, priceMinor: bigint): void {
    const { steam, priceOf } = this.#context
    const thing = steam.thingOf(assetId)
    const isEnough =
      thing !== undefined &&
      priceMinor * 10n >= priceOf(thing.name) * 8n &&
      netOf(priceMinor) >= thing.costCents
    must(isEnough, 'I22', () => `${assetId} is too cheap`)
  }

  #unlist(itemId: string) {
    const item = this.items.find((each) => each.itemId === itemId)
    if (item?.stage === 'on_sale') item.stage = 'cancelled'
    return { itemId, isDone: item?.stage === 'cancelled' }
  }

  #rows(seller: string, appId: number): Row[] {
    const { luck, nowMs } = this.#context
    const rows = this.items
      .filter((item) => item.seller === seller && item.appId === appId && isOpen(item))
      .map((item): Row => {
        const deal = this.deals.find(({ due }) => due.dealId === item.dealId)
        const leftS = deal ? Math.max(0, (HAND_OVER_MS - (nowMs() - deal.soldAtMs)) / 1_000) : null
        const isLie = item.stage === 'sold' && luck.hits('market shows another price', 0.03)
        const { itemId, assetId, stage } = item
        return { itemId, assetId, stage, leftS, price: Number(item.priceMinor * 10n) / (isLie ? 2 : 1) }
      })
    const [first] = rows
    return first && luck.hits('market shows an item twice', 0.02)
      ? [...rows, { ...first, itemId: '1', stage: 'on_sale' }]
      : rows
  }

  #due(seller: string, appId: number): DueGift[] {
    const { nowMs } = this.#context
    return this.deals
      .filter((deal) => deal.seller === seller)
      .filter(({ due, soldAtMs }) => due.assets[0]?.appId === appId && nowMs() - soldAtMs < HAND_OVER_MS)
      .filter((deal) => !deal.isForged || this.#isOnSale(deal.due))
      .map(({ due }) => this.#asShown(due))
  }

  #isOnSale({ assets }: DueGift): boolean {
    return this.items.some(({ assetId, stage }) => assetId === assets[0]?.assetId && stage === 'on_sale')
  }

  #asShown(due: DueGift): DueGift {
    const { luck, steam, ours } = this.#context
    const [asset] = due.assets
    if (asset === undefined) return due
    if (luck.hits('market asks for an asset that was not listed', 0.02)) {
      const other = steam.things.find(
        (each) => steam.isFree(each) && !this.items.some(({ assetId }) => assetId === each.assetId),
      )
      return { ...due, assets: [{ ...asset, assetId: other?.assetId ?? '99' }] }
    }
    if (luck.hits('market asks for more than it sold', 0.02)) {
      const other = this.items.find(({ stage, appId }) => stage === 'on_sale' && appId === asset.appId)
      return { ...due, assets: [...due.assets, { ...asset, assetId: other?.assetId ?? '99' }] }
    }
    if (luck.hits('market names an account of ours as the buyer', 0.02)) {
      const [ownAccount = ''] = ours
      return { ...due, partnerSteamId: ownAccount }
    }
    if (luck.hits('market uses the message of a deposit', 0.02)) return { ...due, message: SECRET_CODE }
    // Only the market knows the buyer, so its first answer cannot be checked. A later, different answer can.
    const isKnown = steam.offers.some(({ gift }) => gift.message === due.message)
    return isKnown && luck.hits('market changes a deal', 0.1)
      ? { ...due, partnerSteamId: ANOTHER_BUYER }
      : due
  }

  /** The lowest price at which anyone offers each item, in cents, by name. */
  #lowestPrices(): ReadonlyMap<string, bigint> {
    const { luck, steam, priceOf } = this.#context
    const isLow = luck.hits('others ask next to nothing', 0.2)
    const share = BigInt(luck.random.between(85, 115))
    const lowest = new Map(
      steam.things.map(({ name }) => [name, isLow ? priceOf(name) / 3n : (priceOf(name) * share) / 100n]),
    )
    for (const { assetId, priceMinor, stage } of this.items) {
      const name = steam.things.find((thing) => thing.assetId === assetId)?.name
      const others = name === undefined ? undefined : lowest.get(name)
      if (name === undefined || others === undefined || stage !== 'on_sale') continue
      if (priceMinor < others) lowest.set(name, priceMinor)
    }
    return lowest
  }

  /** Whether this market still waits for the items sold under this message. */
  waitsFor(message: string): boolean {
    return this.deals.some(({ due }) => due.message === message && this.#isWanted(due.dealId))
  }

  #isWanted(dealId: string): boolean {
    return this.items.some((item) => item.dealId === dealId && item.stage === 'sold')
  }

  #reportOffer(offerId: string): MarketAnswer<null> {
    const { luck, steam } = this.#context
    const offer = steam.offers.find((each) => each.offerId === offerId)
    const isReady = this.#order === 'report_then_confirm' || offer?.seen.state !== 'needs_confirmation'
    if (!isReady || luck.hits('market refuses a hand-over that is fine', 0.1))
      return { kind: 'refused', code: 'error not active offers' }
    return answered(null)
  }

  #outcomes(seller: string, appId: number): Outcome[] {
    const { luck, nowMs } = this.#context
    return this.items.flatMap(({ itemId, priceMinor, end, dealId, ...item }) => {
      if (item.seller !== seller || item.appId !== appId || end === undefined) return []
      const soldAtMs = this.deals.find(({ due }) => due.dealId === dealId)?.soldAtMs ?? nowMs()
      const isLie = end.kind === 'settling' && luck.hits('market says it pays more than the price', 0.02)
      const shown: Outcome['end'] = isLie ? { kind: 'paid', receivedMinor: priceMinor + 1n } : end
      return [{ itemId, soldAt: new Date(soldAtMs), end: shown }]
    })
  }
}

const isOpen = ({ stage }: MarketItem): boolean => stage === 'on_sale' || stage === 'sold'
