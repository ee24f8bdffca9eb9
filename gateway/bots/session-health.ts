/** Watches the answers of a bot's session for signs that the session no longer works. */
import type { SteamSession } from '../steam/steam.ts'
import type { Answer, Capability } from './health.ts'

export type Observer = {
  /** Called when Steam refuses to renew the session, which must then be opened again. */
  report(detail: string): void
  /** Called with every answer that shows whether offers or inventories work. */
  see(capability: Capability, answer: Answer): void
  /** Called with every requested inventory. */
  reading(...read: Parameters<SteamSession['readInventory']>): void
}

/**
 * Wraps the session to report failures in its answers. If Steam is busy, down or limiting us, that proves nothing about
 * the session, and another login would only add to its load.
 */
export function observeSession(session: SteamSession, observer: Observer): SteamSession {
  const seen = async <T extends Answer>(answer: Promise<T>, capability?: Capability): Promise<T> => {
    const value = await answer
    if (capability) observer.see(capability, value)
    if (value.reason === 'session_dead') observer.report(value.detail ?? '')
    return value
  }
  return {
    steamId: session.steamId,
    checkPartner: (...asked) => seen(session.checkPartner(...asked)),
    readInventory(...read) {
      observer.reading(...read)
      return seen(session.readInventory(...read), 'inventories')
    },
    readOwnInventory: (...asked) => seen(session.readOwnInventory(...asked)),
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
