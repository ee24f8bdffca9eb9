import type { Offer, OfferAsset, OfferState, SteamTrade, SteamTradeState } from '../../gateway/steam/steam.ts'
import type { Misfortune } from './misfortunes.ts'
import type { Sim } from './process.ts'

export type SteamOffer = {
  offerId: string
  /** Steam id of the bot. */
  bot: string
  /** Steam id of the shopper, who is asked for items, or who asks the bot for items in a counter-offer. */
  partner: string
  isCounter: boolean
  message: string
  assets: readonly OfferAsset[]
  createdAt: number
  /** When lists begin to show it, in milliseconds. */
  visibleAt: number
  state: OfferState
  changedAt: number
  /** The state before, which a stale read reports. */
  earlier: OfferState
  /** A false state that Steam reports for a time. */
  lie: { state: OfferState; from: number; until: number } | null
  tradeId: string | null
  /** How often each state was reported. Only reported states may end a trade. */
  reported: Map<OfferState, number>
  escrowEndsAt: Date | null
  /** True if Steam's answers about it are never readable. */
  isOpaque: boolean
  /** True if Steam never reports the trade id of the accepted offer. */
  isIdLost: boolean
  /** The last answer, to reuse if the next one is the same. */
  answer: Offer | null
}

export type ModelTrade = {
  tradeId: string
  offer: SteamOffer
  state: SteamTradeState
  changedAt: number
  earlier: SteamTrade
  items: TradedItem[]
  settlesAt: number | null
  /** When Steam begins to report the end of protection, in milliseconds. */
  settlementReportedAt: number
  /** True if it was taken back as a whole, but Steam marks only its first asset. */
  isPartlyMarked: boolean
  beganAt: number
  /** Every reported state. Only reported states may end a trade. */
  reported: Set<SteamTradeState>
}

export type TradedItem = {
  asset: OfferAsset
  newAssetId: string | null
  rolledBackAssetId: string | null
  /** The trade that gives it away, while that is under way. */
  gift: Gift | null
  /** The bot that has it, and its asset id there; null while no bot has it. */
  place: { bot: string; assetId: string } | null
  /** Every bot that has ever had it. */
  bots: Set<string>
  /** True if it vanished without a trade. */
  isVanished: boolean
}

/** An item of a gift. `asset`: the item as the giving bot had it. */
export type GiftItem = Pick<TradedItem, 'asset' | 'newAssetId' | 'rolledBackAssetId'> & {
  traded: TradedItem
  /** True if its new owner has sent it to a bot again. */
  isSentBack: boolean
}

/** A trade in which a bot gives items away. */
export type Gift = {
  tradeId: string
  bot: string
  partner: string
  state: SteamTradeState
  changedAt: number
  earlier: SteamTrade
  beganAt: number
  items: readonly GiftItem[]
  rollbackOf: null
}

export type SteamMemory = Sim & {
  offers: Map<string, SteamOffer>
  steamTrades: Map<string, ModelTrade>
  gifts: Map<string, Gift>
  /** Rows of bots' trade histories that undo other trades or bring items to a bot. They never change. */
  fixedRows: { bot: string; row: SteamTrade }[]
  offersByBot: Map<string, SteamOffer[]>
  byMessage: Map<string, SteamOffer>
  /** The owner of each asset: a Steam id, `bot` for any bot, or `under way`. */
  owners: Map<string, string>
  /** Items that appeared in a bot's inventory without a trade. */
  strayItems: { bot: string; appId: number; assetId: string }[]
  /** The item that Steam last omitted from an inventory, by bot and game. */
  lastOmitted: Map<string, string>
  /** A bot's items that were in escrow when Steam last called its inventory complete, by bot and game. */
  lastInEscrow: Map<string, ReadonlySet<string>>
  /** When Steam called an inventory complete, even if it omitted an item; newest last, by bot and game. */
  shownInFull: Map<string, number[]>
  /** The misfortunes of each bot, by Steam id. */
  misfortunes: Map<string, readonly Misfortune[]>
  lastId: number
}

export const createSteamMemory = (sim: Sim): SteamMemory => ({
  ...sim,
  offers: new Map(),
  steamTrades: new Map(),
  gifts: new Map(),
  fixedRows: [],
  strayItems: [],
  lastOmitted: new Map(),
  lastInEscrow: new Map(),
  shownInFull: new Map(),
  offersByBot: new Map(),
  byMessage: new Map(),
  owners: new Map(),
  misfortunes: new Map(),
  lastId: 1_000,
})

/** An item that is on its way to a bot. */
export const itemOf = (asset: OfferAsset): TradedItem => ({
  asset,
  newAssetId: null,
  rolledBackAssetId: null,
  gift: null,
  place: null,
  bots: new Set(),
  isVanished: false,
})
