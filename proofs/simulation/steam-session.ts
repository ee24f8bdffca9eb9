/** A bot's session with the simulated Steam. Answers take time, and some are lost. */
import type {
  Offer,
  OfferAnswer,
  OffersAnswer,
  PartnerAnswer,
  SendAnswer,
  SteamSession,
  Unavailable,
} from '../../gateway/steam/steam.ts'
import { LONGEST_PAUSE_MS, type Sim } from './process.ts'
import type { Steam } from './steam.ts'
import { hold } from './violation.ts'

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

/** A cancel may be under way while another read learns of a hold, and the process may stand still between the two. */
const UNDER_WAY_MS = LONGEST_PAUSE_MS + 15_000

/** Since when a process knows that Steam holds the items of an offer. A process is told from another by its gate. */
const heldOffers = new WeakMap<Gate, Map<string, number>>()

function knownOf(gate: Gate): Map<string, number> {
  const known = heldOffers.get(gate) ?? new Map<string, number>()
  heldOffers.set(gate, known)
  return known
}

export function sessionOf({ engine, faults }: Sim, { steam, bot, gate, isDown }: Behind): SteamSession {
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
  const known = knownOf(gate)
  const learn = ({ offerId, state }: Offer): void => {
    if (state !== 'in_escrow') known.delete(offerId)
    else if (!known.has(offerId)) known.set(offerId, engine.now())
  }
  return {
    steamId: bot,
    checkPartner: () => ask<PartnerAnswer>(() => steam.check(bot), UNAVAILABLE),
    readInventory: async () => UNAVAILABLE,
    sendOffer: (partner, assets, message) =>
      ask(() => steam.send({ bot, partner: partner.steamId, assets, message }), UNKNOWN, SEND_LOST),
    async readOffer(offerId) {
      const answer = await ask<OfferAnswer>(() => steam.read(offerId), UNAVAILABLE)
      if (answer.kind === 'offer') learn(answer.offer)
      return answer
    },
    async listSentOffers(since, cursor) {
      const answer = await ask<OffersAnswer>(() => steam.list(bot, { since, cursor }), UNAVAILABLE)
      if (answer.kind === 'offers') for (const offer of answer.offers) learn(offer)
      return answer
    },
    cancelOffer: (offerId) =>
      ask(() => {
        const heldForMs = engine.now() - (known.get(offerId) ?? engine.now())
        hold(
          heldForMs < UNDER_WAY_MS,
          'I17',
          () => `offer ${offerId} was cancelled while Steam held its items`,
        )
        return steam.cancel(offerId)
      }, UNAVAILABLE),
    declineOffer: (offerId) => ask(() => steam.refuseCounter(offerId), UNAVAILABLE),
    readSteamTrade: (tradeId) => ask(() => steam.status(tradeId), UNAVAILABLE),
    listSteamTrades: (after) => ask(() => steam.history(bot, after), UNAVAILABLE),
    acknowledgeProtection: async () => ({ kind: 'done' }),
    close: () => {},
  }
}
