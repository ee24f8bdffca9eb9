/** A fake of a bot's session: gives the answers that the test sets, and records the till's requests. */
import { GAME_FACTS } from '../../contract/games.ts'
import type {
  CancelAnswer,
  Offer,
  OfferAnswer,
  OffersAnswer,
  OwnItem,
  RefusedReason,
  SendAnswer,
  SteamSession,
  SteamTradeAnswer,
  SteamTradesAnswer,
  UnreadableOffer,
} from '../steam/steam.ts'

export type FakeSession = SteamSession & {
  /**
   * The requests so far, such as `send CODE` or `read OFFER`. Checks and inventories of partners, and the
   * acknowledgement of trade protection, are not recorded.
   */
  calls: string[]
  /** The bot's offers by id, as Steam would report them. */
  offers: Map<string, Offer>
  /** Offers that others sent to the bot. */
  received: Map<string, Offer>
  /** Steam's answers about Steam trades, by trade id. */
  trades: Map<string, SteamTradeAnswer>
  /** Answers of the next sends; `sent` by default. With `createsOffer`, an `unknown` send creates the offer. */
  sends: { answer: 'sent' | 'refused' | 'unknown'; createsOffer?: boolean; reason?: RefusedReason }[]
  /** How many of the next checks of a partner get no answer. */
  unansweredPartners: number
  /** How long Steam would hold a trade, by the side that causes it. */
  holdDays: { partner: number; own: number }
  /** Rows of the offer list that cannot be read. */
  unreadable: UnreadableOffer[]
  /** How many offers a page of the list has, and how many Steam trades a page of the history. */
  pageSize: number
  /** How many rows of the history cannot be read. */
  unreadableTrades: number
  /** The time at which a Steam trade began; now by default. */
  begunAt(tradeId: string): Date
  /** The bot's own items, and whether Steam shows all of them. */
  ownItems: OwnItem[]
  isOwnComplete: boolean
  /** True if Steam answers no read and no decline. Sends, cancels and checks of partners still work. */
  isDown: boolean
  /** Runs between the creation of an offer and the answer. */
  afterSend(): Promise<void>
  /** Runs before a cancel is answered, so a test can accept the offer first. */
  beforeCancel(): void
  /** Accepts the offer. `isReceived`: whether the bot has the items already; true by default. */
  accept(offerId: string, options?: { settlesAt?: Date; isReceived?: boolean }): void
  /** Reverses a Steam trade: all of it, or only these assets. */
  takeBack(tradeId: string, assetIds?: readonly string[]): void
}

/** A Steam trade's id is its offer's id plus this. */
const STEAM_TRADE_BASE = 9_000

function pageOf<T>(list: readonly T[], start: number, size: number): { rows: T[]; next: number | null } {
  const end = start + size
  return { rows: list.slice(start, end), next: end < list.length ? end : null }
}

/** The id of the Steam trade that the fake Steam creates for an accepted offer. */
export const steamTradeIdOf = (offerId: string): string => String(STEAM_TRADE_BASE + Number(offerId))

/** The asset id that an item gets when the fake Steam hands it to the bot. */
export const receivedIdOf = (assetId: string | undefined): string => `5${assetId}`

/** Opens one bot's session. Offer ids start at `firstOffer`. */
export function fakeSession(steamId = '76561198000000001', firstOffer = 1): FakeSession {
  const calls: string[] = []
  const offers = new Map<string, Offer>()
  const trades = new Map<string, SteamTradeAnswer>()
  const unavailable = { kind: 'unavailable', reason: 'steam_error', detail: 'the fake is silent' } as const
  const session: FakeSession = {
    steamId,
    calls,
    offers,
    received: new Map(),
    trades,
    sends: [],
    unansweredPartners: 0,
    holdDays: { partner: 0, own: 0 },
    unreadable: [],
    pageSize: 100,
    unreadableTrades: 0,
    begunAt: () => new Date(),
    ownItems: [],
    isOwnComplete: true,
    isDown: false,
    afterSend: async () => {},
    beforeCancel: () => {},
    async checkPartner() {
      if (session.unansweredPartners === 0) return { kind: 'ok', holdDays: session.holdDays }
      session.unansweredPartners -= 1
      return unavailable
    },
    readInventory: async () => unavailable,
    readOwnInventory: async (game, { isProtected }) => {
      calls.push(`own ${game}${isProtected ? ', protected' : ''}`)
      if (session.isDown) return unavailable
      const items = session.ownItems.filter(({ appId }) => appId === GAME_FACTS[game].appId)
      return { kind: 'items', items, isComplete: session.isOwnComplete }
    },
    sendOffer: async (partner, assets, message): Promise<SendAnswer> => {
      calls.push(`send ${message}`)
      const { answer, createsOffer, reason } = session.sends.shift() ?? { answer: 'sent' as const }
      const offerId = String(firstOffer + offers.size)
      if (answer === 'sent' || createsOffer === true) {
        offers.set(offerId, {
          offerId,
          partnerSteamId: partner.steamId,
          message,
          state: 'active',
          tradeId: null,
          itemsToReceive: assets,
          itemsToGive: [],
          createdAt: new Date(),
          escrowEndsAt: null,
          delaysSettlement: false,
          settlesAt: null,
        })
      }
      await session.afterSend()
      if (answer === 'sent') return { kind: 'sent', offerId }
      if (answer === 'refused') return { kind: 'refused', reason: reason ?? 'invalid_token' }
      return { kind: 'unknown', detail: 'the answer was lost' }
    },
    readOffer: async (offerId): Promise<OfferAnswer> => {
      calls.push(`read ${offerId}`)
      if (session.isDown) return unavailable
      const offer = offers.get(offerId)
      return offer === undefined ? { kind: 'missing' } : { kind: 'offer', offer }
    },
    listOffers: async (_since, cursor): Promise<OffersAnswer> => {
      calls.push(cursor === null ? 'list' : `list ${cursor}`)
      if (session.isDown) return unavailable
      const { rows, next } = pageOf([...offers.values()], Number(cursor ?? 0), session.pageSize)
      const isLast = next === null
      return {
        kind: 'offers',
        sent: rows,
        received: isLast ? [...session.received.values()] : [],
        unreadable: isLast ? session.unreadable : [],
        next: isLast ? null : String(next),
      }
    },
    cancelOffer: async (offerId): Promise<CancelAnswer> => {
      calls.push(`cancel ${offerId}`)
      session.beforeCancel()
      const offer = offers.get(offerId)
      if (offer?.state !== 'active') return { kind: 'not_active' }
      offers.set(offerId, { ...offer, state: 'cancelled' })
      return { kind: 'done' }
    },
    declineOffer: async (offerId): Promise<CancelAnswer> => {
      calls.push(`decline ${offerId}`)
      if (session.isDown) return unavailable
      const offer = session.received.get(offerId)
      if (offer?.state !== 'active') return { kind: 'not_active' }
      session.received.set(offerId, { ...offer, state: 'declined' })
      return { kind: 'done' }
    },
    readSteamTrade: async (tradeId) => {
      calls.push(`status ${tradeId}`)
      if (session.isDown) return unavailable
      return trades.get(tradeId) ?? { kind: 'missing' }
    },
    listSteamTrades: async (after): Promise<SteamTradesAnswer> => {
      calls.push(after === null ? 'history' : `history ${after.tradeId}`)
      if (session.isDown) return unavailable
      const known = [...trades.values()].flatMap((answer) => (answer.kind === 'trade' ? [answer.trade] : []))
      known.reverse()
      const start = after === null ? 0 : known.findIndex(({ tradeId }) => tradeId === after.tradeId) + 1
      const { rows, next } = pageOf(known, start, session.pageSize)
      const tradeId = rows.at(-1)?.tradeId ?? ''
      const place = next === null ? null : { tradeId, begunAt: session.begunAt(tradeId) }
      return { kind: 'trades', trades: rows, unreadable: session.unreadableTrades, next: place }
    },
    acknowledgeProtection: async () => ({ kind: 'done' }),
    close: () => {},
    accept(offerId, { settlesAt, isReceived = true } = {}) {
      const offer = offers.get(offerId)
      if (offer === undefined) throw new Error(`no offer ${offerId}`)
      const tradeId = steamTradeIdOf(offerId)
      offers.set(offerId, { ...offer, state: 'accepted', tradeId })
      trades.set(tradeId, {
        kind: 'trade',
        trade: {
          tradeId,
          partnerSteamId: offer.partnerSteamId,
          state: isReceived ? 'complete' : 'pending',
          begunAt: session.begunAt(tradeId),
          received: offer.itemsToReceive.map((asset) => ({
            ...asset,
            newAssetId: isReceived ? receivedIdOf(asset.assetId) : null,
            rolledBackAssetId: null,
          })),
          given: [],
          settlesAt: settlesAt ?? null,
          rollbackOf: null,
        },
      })
    },
    takeBack(tradeId, assetIds) {
      const answer = trades.get(tradeId)
      if (answer?.kind !== 'trade') throw new Error(`no Steam trade ${tradeId}`)
      const { trade } = answer
      const received = trade.received.map((asset) => ({
        ...asset,
        rolledBackAssetId: assetIds === undefined || assetIds.includes(asset.assetId) ? asset.assetId : null,
      }))
      const state = assetIds === undefined ? 'rolled_back' : 'partly_rolled_back'
      trades.set(tradeId, { kind: 'trade', trade: { ...trade, state, received, settlesAt: null } })
    },
  }
  return session
}
