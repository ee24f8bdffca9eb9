/** A bot's session with the simulated Steam. Answers take time, and some are lost. */
import type { OfferAnswer, SendAnswer, SteamSession, Unavailable } from '../../gateway/steam/steam.ts'
import type { Sim } from './process.ts'
import type { Steam } from './steam.ts'

const UNAVAILABLE: Unavailable = { kind: 'unavailable', reason: 'timeout', detail: 'simulated' }
const UNKNOWN: SendAnswer = { kind: 'unknown', detail: 'simulated' }

const LOST_BEFORE = 0.012
const LOST_AFTER = 0.013
/** Most can go wrong after a send whose answer is lost. */
const SEND_LOST = 0.06
const TIMEOUT_MS = 10_000

/** Waits for the process's turn, between so many milliseconds. */
export type Gate = (low: number, high: number) => Promise<void>

type Behind = {
  steam: Steam
  /** Steam id of the bot. */
  bot: string
  gate: Gate
  isDown(): boolean
}

export function sessionOf({ faults }: Sim, { steam, bot, gate, isDown }: Behind): SteamSession {
  async function ask<T>(act: () => T, lost: T, risk = LOST_AFTER): Promise<T> {
    await gate(20, 400)
    if (isDown()) return lost
    if (faults.strike('answer lost before Steam acted', LOST_BEFORE)) {
      await gate(1_000, TIMEOUT_MS)
      return lost
    }
    const answer = act()
    const isLost = faults.strike('answer lost after Steam acted', risk)
    await gate(isLost ? 1_000 : 20, isLost ? TIMEOUT_MS : 400)
    return isLost ? lost : answer
  }
  return {
    steamId: bot,
    checkPartner: async () => ({ kind: 'ok', holdDays: 0 }),
    readInventory: async () => UNAVAILABLE,
    sendOffer: (partner, assets, message) =>
      ask(() => steam.send({ bot, partner: partner.steamId, assets, message }), UNKNOWN, SEND_LOST),
    readOffer: (offerId) => ask<OfferAnswer>(() => steam.read(offerId), UNAVAILABLE),
    listSentOffers: (since) => ask(() => steam.list(bot, since), UNAVAILABLE),
    cancelOffer: (offerId) => ask(() => steam.cancel(offerId), UNAVAILABLE),
    declineOffer: (offerId) => ask(() => steam.refuseCounter(offerId), UNAVAILABLE),
    readTradeStatus: (tradeId) => ask(() => steam.status(tradeId), UNAVAILABLE),
    listTrades: (since) => ask(() => steam.history(bot, since), UNAVAILABLE),
    acknowledgeProtection: async () => ({ kind: 'done' }),
    close: () => {},
  }
}
