/** All that the simulated Steam knows. */
import type { Offer, OfferAsset, OfferState, SteamTrade, SteamTradeState } from '../../gateway/steam/steam.ts'
import type { Misfortune } from './misfortunes.ts'
import type { Sim } from './process.ts'

export type SteamOffer = {
  offerId: string
  /** Steam id of the bot. */
  bot: string
  /** Of the shopper: asked for items, or, of a counter-offer, asking for them back. */
  partner: string
  isCounter: boolean
  message: string
  assets: readonly OfferAsset[]
  createdAt: number
  /** From when on lists show it. */
  visibleAt: number
  state: OfferState
  changedAt: number
  earlier: OfferState
  lie: { state: OfferState; from: number; until: number } | null
  tradeId: string | null
  /** How often each state was told: nothing else may end a trade. */
  told: Map<OfferState, number>
  escrowEndsAt: Date | null
  /** Nobody can make sense of what Steam says of it, ever. */
  isOpaque: boolean
  /** Once accepted, Steam never names its trade. */
  isIdLost: boolean
  /** The last answer, for the next one that says the same. */
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
  /** From when on Steam says until when it protects the Steam trade. */
  settlementToldAt: number
  /** It was taken back whole, and Steam marks the first of its assets only. */
  isHalfMarked: boolean
  beganAt: number
  /** Every state that was told: nothing else may end a trade. */
  told: Set<SteamTradeState>
}

export type TradedItem = {
  asset: OfferAsset
  newAssetId: string | null
  rolledBackAssetId: string | null
  /** The trade in which a bot gives it away, while that is under way. */
  gift: Gift | null
  /** The bot that has it, and what it calls it; null while none has. */
  place: { bot: string; assetId: string } | null
  /** Every bot that ever had it. */
  bots: Set<string>
  /** It is gone, and no trade took it. */
  isVanished: boolean
}

/** `asset`: as the bot had it. */
export type GiftItem = Pick<TradedItem, 'asset' | 'newAssetId' | 'rolledBackAssetId'> & {
  of: TradedItem
  /** Its new owner sent it to a bot again. */
  isSentBack: boolean
}

/** A trade in which a bot gives. */
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

export type Memory = Sim & {
  offers: Map<string, SteamOffer>
  steamTrades: Map<string, ModelTrade>
  gifts: Map<string, Gift>
  /** Rows that undo others or bring something to a bot, which stay as they are. */
  undoings: { bot: string; row: SteamTrade }[]
  ofBot: Map<string, SteamOffer[]>
  byMessage: Map<string, SteamOffer>
  /** Asset id → Steam id of its owner, `bot`, or where it is under way. */
  owners: Map<string, string>
  /** Items of bots that no trade brought. */
  strangers: { bot: string; appId: number; assetId: string }[]
  /** The item of each bot that Steam left out of its inventory last. */
  leftOut: Map<string, string>
  /** Items that Steam held when a game of each bot was last shown as a whole. */
  heldBack: Map<string, ReadonlySet<string>>
  /** When a game of each bot was last shown as a whole, newest last. */
  shownWhole: Map<string, number[]>
  /** By the Steam id of the bot. */
  misfortunes: Map<string, readonly Misfortune[]>
  lastId: number
}

export const createSteamMemory = (sim: Sim): Memory => ({
  ...sim,
  offers: new Map(),
  steamTrades: new Map(),
  gifts: new Map(),
  undoings: [],
  strangers: [],
  leftOut: new Map(),
  heldBack: new Map(),
  shownWhole: new Map(),
  ofBot: new Map(),
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
