import type { SteamSession } from '../steam/steam.ts'

/** This many failures in a row, over at least this long, are an outage and not a hiccup of one call. */
const OUTAGE_FAILURES = 3
const OUTAGE_MS = 5_000

/** Why a session must be opened anew. */
export type SessionTrouble = 'session_dead' | 'out_of_reach'

/** Only what is judged of an answer; every answer of the port fits. */
type Answer = { kind: string; reason?: string; detail?: string }

/** The same session, reporting once when its answers show that it no longer works. */
export function observeSession(
  session: SteamSession,
  monotonicMs: () => number,
  report: (trouble: SessionTrouble, detail: string) => void,
): SteamSession {
  let failures = 0
  let firstFailureMs = 0

  const judge = ({ kind, reason, detail = '' }: Answer) => {
    if (reason === 'session_dead') return report('session_dead', detail)
    if (reason === 'rate_limited') return
    if (kind !== 'unavailable' && kind !== 'unknown') {
      failures = 0
      return
    }
    failures += 1
    if (failures === 1) firstFailureMs = monotonicMs()
    if (failures >= OUTAGE_FAILURES && monotonicMs() - firstFailureMs >= OUTAGE_MS) {
      report('out_of_reach', detail)
    }
  }
  const seen = async <T extends Answer>(answer: Promise<T>): Promise<T> => {
    const value = await answer
    judge(value)
    return value
  }
  return {
    steamId: session.steamId,
    checkPartner: (partner) => seen(session.checkPartner(partner)),
    readInventory: (partner, game, language) => seen(session.readInventory(partner, game, language)),
    sendOffer: (partner, assets, message) => seen(session.sendOffer(partner, assets, message)),
    readOffer: (offerId) => seen(session.readOffer(offerId)),
    listSentOffers: (since) => seen(session.listSentOffers(since)),
    cancelOffer: (offerId) => seen(session.cancelOffer(offerId)),
    declineOffer: (offerId) => seen(session.declineOffer(offerId)),
    readTradeStatus: (tradeId) => seen(session.readTradeStatus(tradeId)),
    listTrades: (since) => seen(session.listTrades(since)),
    close: () => session.close(),
  }
}
