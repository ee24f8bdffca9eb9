/** A bot's session with the simulated Steam. Answers take time, and some are lost. */

import { GAME_FACTS } from '../../contract/games.ts'
import type { Method } from '../../gateway/steam/methods.ts'
import type {
  CancelAnswer,
  Offer,
  OfferAnswer,
  OffersAnswer,
  OwnInventoryAnswer,
  PartnerAnswer,
  SendAnswer,
  SteamSession,
  SteamTradeAnswer,
  SteamTradesAnswer,
  Unavailable,
} from '../../gateway/steam/steam.ts'
import { type Gate, LONGEST_PAUSE_MS, type Sim } from './process.ts'
import { askerOf, notRead, notSent, type SteamAccess } from './steam-calls.ts'
import { must } from './violation.ts'

const UNAVAILABLE: Unavailable = { kind: 'unavailable', reason: 'timeout', detail: 'simulated' }
const UNKNOWN: SendAnswer = { kind: 'unknown', detail: 'simulated' }

/** The chance that a send loses its answer: above that of other calls, because it has the most ways to go wrong. */
const SEND_LOST = 0.06

/**
 * How long after a process learned of the escrow its cancel may still arrive: the cancel was already under way, and the
 * process may have paused.
 */
const UNDER_WAY_MS = LONGEST_PAUSE_MS + 15_000

/** When a process learned that an offer is in escrow, by process (its gate) and offer. */
const offersInEscrow = new WeakMap<Gate, Map<string, number>>()

function offersInEscrowOf(gate: Gate): Map<string, number> {
  const inEscrowSince = offersInEscrow.get(gate) ?? new Map<string, number>()
  offersInEscrow.set(gate, inEscrowSince)
  return inEscrowSince
}

export function sessionOf(sim: Sim, access: SteamAccess): SteamSession {
  const { engine } = sim
  const { steam, bot, gate } = access
  const ask = askerOf(sim, access)
  const read = <T extends { kind: string }>(method: Method, act: () => T | Unavailable) =>
    ask<T | Unavailable>({ method, act, lost: UNAVAILABLE, refused: notRead })
  const inEscrowSince = offersInEscrowOf(gate)
  const learn = ({ offerId, state }: Offer): void => {
    if (state !== 'in_escrow') inEscrowSince.delete(offerId)
    else if (!inEscrowSince.has(offerId)) inEscrowSince.set(offerId, engine.now())
  }
  return {
    steamId: bot,
    checkPartner: () => read<PartnerAnswer>('GetTradeHoldDurations', () => steam.check(bot)),
    readInventory: async () => UNAVAILABLE,
    readOwnInventory: (game) =>
      read<OwnInventoryAnswer>('GetInventoryItemsWithDescriptions', () =>
        steam.ownInventory(bot, GAME_FACTS[game].appId),
      ),
    sendOffer: (partner, assets, message) => {
      const act = () => steam.send({ bot, partner: partner.steamId, assets, message })
      return ask<SendAnswer>({ method: 'send', act, lost: UNKNOWN, refused: notSent, risk: SEND_LOST })
    },
    async readOffer(offerId) {
      const answer = await read<OfferAnswer>('GetTradeOffer', () => steam.read(offerId))
      if (answer.kind === 'offer') learn(answer.offer)
      return answer
    },
    async listOffers(since, cursor) {
      const answer = await read<OffersAnswer>('GetTradeOffers', () => steam.list(bot, { since, cursor }))
      if (answer.kind === 'offers') for (const offer of answer.sent) learn(offer)
      return answer
    },
    cancelOffer: (offerId) =>
      read<CancelAnswer>('cancel', () => {
        const inEscrowForMs = engine.now() - (inEscrowSince.get(offerId) ?? engine.now())
        must(
          inEscrowForMs < UNDER_WAY_MS,
          'I17',
          () => `offer ${offerId} was cancelled while Steam held its items`,
        )
        return steam.cancel(offerId)
      }),
    declineOffer: (offerId) => read<CancelAnswer>('decline', () => steam.refuseCounter(offerId)),
    readSteamTrade: (tradeId) => read<SteamTradeAnswer>('GetTradeStatus', () => steam.status(tradeId)),
    listSteamTrades: (after) => read<SteamTradesAnswer>('GetTradeHistory', () => steam.history(bot, after)),
    acknowledgeProtection: async () => ({ kind: 'done' }),
    close: () => {},
  }
}
