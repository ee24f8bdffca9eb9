import type { SteamSession } from '../steam/steam.ts'
import { type Answer, type Capability, isFailure } from './health.ts'

/** This many failures in a row, over at least this long, are an outage and not a hiccup of one call. */
const OUTAGE_FAILURES = 3
const OUTAGE_MS = 5_000

/** Why a session must be opened anew. */
export type SessionTrouble = 'session_dead' | 'out_of_reach'

export type Observer = {
  monotonicMs: () => number
  /** Called when answers show that the session no longer works. */
  report(trouble: SessionTrouble, detail: string): void
  /** Called with every answer that tells whether offers or inventories work. */
  see(capability: Capability, answer: Answer): void
  reading(...read: Parameters<SteamSession['readInventory']>): void
}

/** The same session, telling the observer what its answers show. */
export function observeSession(session: SteamSession, observer: Observer): SteamSession {
  const { monotonicMs, report } = observer
  let failures = 0
  let firstFailureMs = 0

  const judge = (answer: Answer) => {
    const { reason, detail = '' } = answer
    if (reason === 'session_dead') return report('session_dead', detail)
    if (reason === 'rate_limited') return
    if (!isFailure(answer)) {
      failures = 0
      return
    }
    failures += 1
    if (failures === 1) firstFailureMs = monotonicMs()
    if (failures >= OUTAGE_FAILURES && monotonicMs() - firstFailureMs >= OUTAGE_MS) {
      report('out_of_reach', detail)
    }
  }
  const seen = async <T extends Answer>(answer: Promise<T>, capability?: Capability): Promise<T> => {
    const value = await answer
    if (capability) observer.see(capability, value)
    judge(value)
    return value
  }
  return {
    steamId: session.steamId,
    checkPartner: (...asked) => seen(session.checkPartner(...asked)),
    readInventory(...read) {
      observer.reading(...read)
      return seen(session.readInventory(...read), 'inventories')
    },
    sendOffer: (...asked) => seen(session.sendOffer(...asked), 'offers'),
    readOffer: (...asked) => seen(session.readOffer(...asked), 'offers'),
    listSentOffers: (...asked) => seen(session.listSentOffers(...asked), 'offers'),
    cancelOffer: (...asked) => seen(session.cancelOffer(...asked), 'offers'),
    declineOffer: (...asked) => seen(session.declineOffer(...asked), 'offers'),
    readTradeStatus: (...asked) => seen(session.readTradeStatus(...asked)),
    listTrades: (...asked) => seen(session.listTrades(...asked)),
    acknowledgeProtection: (...asked) => seen(session.acknowledgeProtection(...asked)),
    close: () => session.close(),
  }
}
