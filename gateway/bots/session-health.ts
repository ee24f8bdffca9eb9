/** Watches the answers of a bot's session for signs that the session no longer works. */
import type { SteamSession } from '../steam/steam.ts'
import { type Answer, type Capability, isFailure } from './health.ts'

/** Fewer failures in a row, or a shorter row, may be a hiccup of one call. */
const OUTAGE_FAILURES = 3
const OUTAGE_MS = 5_000

/** Why a session must be opened again. */
export type SessionTrouble = 'session_dead' | 'out_of_reach'

export type Observer = {
  monotonicMs: () => number
  /** Called when answers show that the session no longer works. */
  report(trouble: SessionTrouble, detail: string): void
  /** Called with every answer that shows whether offers or inventories work. */
  see(capability: Capability, answer: Answer): void
  /** Called with every inventory that is asked for. */
  reading(...read: Parameters<SteamSession['readInventory']>): void
}

/** Wraps the session to report what its answers show. */
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
    readSteamTrade: (...asked) => seen(session.readSteamTrade(...asked)),
    listSteamTrades: (...asked) => seen(session.listSteamTrades(...asked)),
    acknowledgeProtection: (...asked) => seen(session.acknowledgeProtection(...asked)),
    close: () => session.close(),
  }
}
