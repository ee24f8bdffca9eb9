/** A model of an outside market, with its cruelties and its lies. */
import type { Due, Line, Listed, Market, Outcome, Row, Said } from '../../vault/markets/market.ts'
import { hold } from '../simulation/violation.ts'
import type { Luck } from './luck.ts'
import { DAY_MS, GAMES, isSameGift, MINUTE_MS, type ModelSteam } from './steam.ts'

export const US = '76561198000000009'
const BUYER = '76561198000000001'
const OTHER = '76561198000000666'
const SETTLES_MS = 7 * DAY_MS
/** The market takes a deal back after so long. */
const HAND_OVER_MS = 5 * MINUTE_MS
const GIVES_UP_MS = 11 * MINUTE_MS

export type MarketItem = {
  itemId: string
  appId: number
  assetId: string
  priceMinor: bigint
  stage: Row['stage']
  dealId?: string
  end?: Outcome['end']
  /** Nobody will take it back. */
  isSure?: boolean
}
type ModelDeal = { due: Due; soldAtMs: number; isForged: boolean }
export type Around = {
  luck: Luck
  steam: ModelSteam
  nowMs(): number
  /** The worth of an item as the vault knows it, in cents. */
  priceOf(name: string): bigint
}

const said = <T>(value: T): Said<T> => ({ kind: 'said', value })
const lost = { kind: 'unanswered', because: 'lost' } as const

export class ModelMarket {
  readonly items: MarketItem[] = []
  readonly deals: ModelDeal[] = []
  readonly name: string
  readonly #order: Market['order']
  readonly #around: Around

  constructor(name: string, order: Market['order'], around: Around) {
    this.name = name
    this.#order = order
    this.#around = around
  }

  port(): Market {
    const { luck } = this.#around
    const asked = async <T>(effect: () => Said<T>): Promise<Said<T>> =>
      luck.call('a market', { effect, lost })
    return {
      name: this.name,
      games: GAMES,
      order: this.#order,
      ready: () => asked(() => said({ problems: [] })),
      keepOnline: () => asked(() => said(null)),
      setTradeToken: () => asked(() => said(null)),
      goOffline: () => asked(() => said(null)),
      close() {},
      refresh: () => asked(() => said(null)),
      list: (appId, lines) => asked(() => said(lines.map((line) => this.#list(appId, line)))),
      reprice: (_, lines) => asked(() => said(lines.map((line) => this.#reprice(line)))),
      unlist: (_, itemIds) => asked(() => said(itemIds.map((itemId) => this.#unlist(itemId)))),
      unlistAll: () => asked(() => said(null)),
      round: (appId) => asked(() => said({ rows: this.#rows(appId), due: this.#due(appId) })),
      stands: (dealId) => asked(() => said(this.#stands(dealId))),
      sent: (_, { offerId }) => asked(() => this.#sent(offerId)),
      outcomes: (appId) => asked(() => said(this.#outcomes(appId))),
      money: () => asked(() => said({ freeMinor: 0n, settlingMinor: 0n, currency: 'USD' })),
      bestOffers: () => asked(() => said(this.#bestOffers())),
    }
  }

  /** Somebody buys one or two items of a game. */
  buy(): void {
    const { luck, nowMs, steam } = this.#around
    const first = this.#some(this.items.filter(({ stage }) => stage === 'on_sale'))
    if (first === undefined) return
    const second = this.items.find(
      (each) => each.stage === 'on_sale' && each.appId === first.appId && each.assetId !== first.assetId,
    )
    const bought = second !== undefined && luck.random.chance(0.3) ? [first, second] : [first]
    const dealId = `d${steam.newId()}`
    const assets = bought.map(({ appId, assetId }) => ({ appId, contextId: '2', assetId }))
    const due = { dealId, partnerSteamId: BUYER, token: 'AbC12-_x', message: `deal ${dealId}`, assets }
    this.deals.push({ due, soldAtMs: nowMs(), isForged: false })
    for (const item of bought) Object.assign(item, { stage: 'sold', dealId })
    luck.trace.add(`${this.name} sold ${dealId}: ${assets.map(({ assetId }) => assetId).join()}`)
  }

  /** The market goes on: it settles what was given, and gives up what was not. */
  act(): void {
    const { nowMs, luck, steam } = this.#around
    for (const { due, soldAtMs, isForged } of this.deals) {
      if (isForged) continue
      const own = this.items.filter(({ dealId }) => dealId === due.dealId)
      const offer = steam.offers.find(({ gift }) => isSameGift(gift, due))
      const isOpen = own.some(({ stage }) => stage === 'sold')
      if (isOpen && offer?.seen.state === 'accepted') this.#settle(own)
      const waitedMs = nowMs() - soldAtMs
      const isSent = offer !== undefined && offer.seen.state !== 'ended'
      const mayStay = isSent && (waitedMs < GIVES_UP_MS || offer.seen.state === 'in_escrow')
      const isLate = waitedMs > HAND_OVER_MS && !mayStay
      if (own.some(({ stage }) => stage === 'sold') && isLate)
        for (const item of own) Object.assign(item, { stage: 'cancelled', end: { kind: 'cancelled' } })
    }
    for (const item of this.items) this.#pay(item)
    this.#forge(luck)
  }

  #settle(own: readonly MarketItem[]): void {
    const { nowMs, luck } = this.#around
    const isDenied = luck.hits('market says cancelled though it was given', 0.04)
    for (const item of own) {
      const receivedMinor = (item.priceMinor * 95n) / 100n
      const settlesAt = new Date(nowMs() + SETTLES_MS)
      const end: Outcome['end'] = isDenied
        ? { kind: 'cancelled' }
        : { kind: 'settling', receivedMinor, settlesAt }
      Object.assign(item, { stage: 'given', end })
    }
  }

  #pay(item: MarketItem): void {
    const { nowMs } = this.#around
    if (item.end?.kind !== 'settling') return
    if (!item.isSure) this.#reverse(item)
    item.isSure = true
    if (item.end?.kind !== 'settling') return
    if (nowMs() < item.end.settlesAt.getTime()) return
    item.end = { kind: 'paid', receivedMinor: item.end.receivedMinor }
  }

  #reverse(item: MarketItem): void {
    const { luck, steam } = this.#around
    if (luck.hits('reversed by the seller', 0.04))
      item.end = { kind: 'reversed', causer: 'seller', refundMinor: 0n }
    else if (luck.hits('reversed by the buyer', 0.06))
      item.end = { kind: 'reversed', causer: 'buyer', refundMinor: item.priceMinor / 5n }
    else return
    const old = steam.assetOf(item.assetId)
    if (old) steam.bring({ ...old, protectedMs: SETTLES_MS })
  }

  /** A sale that never was. */
  #forge(luck: Luck): void {
    const item = this.#some(this.items.filter(({ stage }) => stage === 'on_sale'))
    if (item === undefined || !luck.hits('market says sold what nobody bought', 0.01)) return
    const dealId = `f${this.#around.steam.newId()}`
    const assets = [{ appId: item.appId, contextId: '2', assetId: item.assetId }]
    const due = { dealId, partnerSteamId: BUYER, token: 'AbC12-_x', message: `deal ${dealId}`, assets }
    this.deals.push({ due, soldAtMs: this.#around.nowMs(), isForged: true })
  }

  #some<T>(values: readonly T[]): T | undefined {
    return values.length === 0 ? undefined : values[this.#around.luck.random.int(values.length)]
  }

  #list(appId: number, { assetId, priceMinor }: Line): Listed {
    const { steam, priceOf } = this.#around
    const asset = steam.assetOf(assetId)
    hold(asset !== undefined && steam.isFree(asset), 'I22', () => `${assetId} was listed while protected`)
    if (asset === undefined) return { kind: 'refused', assetId, code: 'item_not_in_inventory', retry: true }
    const floor = (priceOf(asset.name) * 8n) / 10n
    hold(priceMinor >= floor && priceMinor >= asset.costCents, 'I22', () => `${assetId} is too cheap`)
    if (this.items.some((item) => item.assetId === assetId && isOpen(item)))
      return { kind: 'refused', assetId, code: 'item_not_inserted', retry: false }
    const itemId = steam.newId()
    this.items.push({ itemId, appId, assetId, priceMinor, stage: 'on_sale' })
    return { kind: 'listed', assetId, itemId }
  }

  #reprice({ itemId, priceMinor }: { itemId: string; priceMinor: bigint }) {
    const item = this.items.find((each) => each.itemId === itemId)
    if (item?.stage !== 'on_sale') return { itemId, isDone: false }
    const { steam, priceOf } = this.#around
    const asset = steam.assetOf(item.assetId)
    const isEnough =
      asset !== undefined && priceMinor * 10n >= priceOf(asset.name) * 8n && priceMinor >= asset.costCents
    hold(isEnough, 'I22', () => `${itemId} became too cheap`)
    item.priceMinor = priceMinor
    return { itemId, isDone: true }
  }

  #unlist(itemId: string) {
    const item = this.items.find((each) => each.itemId === itemId)
    if (item?.stage === 'on_sale') item.stage = 'cancelled'
    return { itemId, isDone: item?.stage === 'cancelled' }
  }

  #rows(appId: number): Row[] {
    const { luck, nowMs } = this.#around
    const rows = this.items
      .filter((item) => item.appId === appId && isOpen(item))
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

  #due(appId: number): Due[] {
    const { nowMs } = this.#around
    return this.deals
      .filter(({ due, soldAtMs }) => due.assets[0]?.appId === appId && nowMs() - soldAtMs < HAND_OVER_MS)
      .filter((deal) => !deal.isForged || this.#isOnSale(deal.due))
      .map(({ due }) => this.#told(due))
  }

  #isOnSale({ assets }: Due): boolean {
    return this.items.some(({ assetId, stage }) => assetId === assets[0]?.assetId && stage === 'on_sale')
  }

  #told(due: Due): Due {
    const { luck, steam } = this.#around
    const [asset] = due.assets
    if (asset === undefined) return due
    if (luck.hits('market asks for an asset that was not listed', 0.02)) {
      const other = steam.assets.find(
        (each) => steam.isFree(each) && !this.items.some(({ assetId }) => assetId === each.assetId),
      )
      return { ...due, assets: [{ ...asset, assetId: other?.assetId ?? '99' }] }
    }
    if (luck.hits('market asks for more than it sold', 0.02)) {
      const other = this.items.find(({ stage, appId }) => stage === 'on_sale' && appId === asset.appId)
      return { ...due, assets: [...due.assets, { ...asset, assetId: other?.assetId ?? '99' }] }
    }
    if (luck.hits('market names an account of ours as the buyer', 0.02)) return { ...due, partnerSteamId: US }
    if (luck.hits('market uses the message of a deposit', 0.02)) return { ...due, message: 'K7MXPQ' }
    // Only the market says who the buyer was. A later, different answer can be seen.
    const isKnown = steam.offers.some(({ gift }) => gift.message === due.message)
    return isKnown && luck.hits('market changes a deal', 0.1) ? { ...due, partnerSteamId: OTHER } : due
  }

  #bestOffers(): ReadonlyMap<string, bigint> {
    const { luck, steam, priceOf } = this.#around
    const isLow = luck.hits('others ask next to nothing', 0.2)
    const offers = steam.assets.map(({ name }) => [name, isLow ? priceOf(name) / 3n : priceOf(name)] as const)
    return new Map(offers)
  }

  /** Whether this market still waits for what was sold under this message. */
  waitsFor(message: string): boolean {
    return this.deals.some(({ due }) => due.message === message && this.#stands(due.dealId))
  }

  #stands(dealId: string): boolean {
    return this.items.some((item) => item.dealId === dealId && item.stage === 'sold')
  }

  #sent(offerId: string): Said<null> {
    const { luck, steam } = this.#around
    const offer = steam.offers.find((each) => each.offerId === offerId)
    const isReady = this.#order === 'tell_then_confirm' || offer?.seen.state !== 'needs_confirmation'
    if (!isReady || luck.hits('market refuses a hand-over that is fine', 0.1))
      return { kind: 'refused', code: 'error not active offers' }
    return said(null)
  }

  #outcomes(appId: number): Outcome[] {
    const { luck, nowMs } = this.#around
    return this.items.flatMap(({ itemId, priceMinor, end, ...item }) => {
      if (item.appId !== appId || end === undefined) return []
      const isLie = end.kind === 'settling' && luck.hits('market says it pays more than the price', 0.02)
      const told: Outcome['end'] = isLie ? { kind: 'paid', receivedMinor: priceMinor + 1n } : end
      return [{ itemId, soldAt: new Date(nowMs()), end: told }]
    })
  }
}

const isOpen = ({ stage }: MarketItem): boolean => stage === 'on_sale' || stage === 'sold'
