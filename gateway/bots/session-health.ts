import type { SteamSession } from '../steam/steam.ts'
import type { Answer, Capability } from './health.ts'
import type { InventoryRead } from './trial-reads.ts'

/** Stand for the game and the language of a read that a check prevented, because the check does not know them. */
const ANY_INVENTORY = ['cs', 'en'] as const

export type Observer = {
  /** Called when the session must be opened again: Steam refused the token, or a send could not renew the session. */
  report(detail: string): void
  /**
   * Called with every answer to a call of a capability, even if the call was not sent (`not_our_turn`), and for
   * `inventories` also with a check that prevents a read.
   */
  onAnswer(capability: Capability, answer: Answer): void
  /** Called after each read of a shopper's inventory, and after a check that prevents one. */
  onRead(read: InventoryRead, answer: Answer): void
}

/**
 * Wraps the session, so the observer learns of its answers. Does not call `report` if Steam is only busy, down or
 * limiting us: that proves nothing about the session, and another login would only add to Steam's load.
 */
export function observeSession(session: SteamSession, observer: Observer): SteamSession {
  const observe = async <T extends Answer>(answer: Promise<T>, capability?: Capability): Promise<T> => {
    const value = await answer
    if (capability) observer.onAnswer(capability, value)
    if (value.reason === 'session_dead') observer.report(value.detail ?? '')
    return value
  }
  return {
    steamId: session.steamId,
    async checkPartner(partner) {
      const answer = await observe(session.checkPartner(partner))
      // The check precedes every read of an inventory. So without it no inventory can be read, but a check that works
      // does not prove that one can.
      if (answer.kind === 'unavailable') {
        observer.onAnswer('inventories', answer)
        observer.onRead([partner, ...ANY_INVENTORY], answer)
      }
      return answer
    },
    async readInventory(...read) {
      const answer = await observe(session.readInventory(...read), 'inventories')
      observer.onRead(read, answer)
      return answer
    },
    readOwnInventory: (...args) => observe(session.readOwnInventory(...args)),
    sendOffer: (...args) => observe(session.sendOffer(...args), 'offers'),
    readOffer: (...args) => observe(session.readOffer(...args), 'offers'),
    listOffers: (...args) => observe(session.listOffers(...args), 'offers'),
    cancelOffer: (...args) => observe(session.cancelOffer(...args), 'offers'),
    declineOffer: (...args) => observe(session.declineOffer(...args), 'offers'),
    readSteamTrade: (...args) => observe(session.readSteamTrade(...args)),
    listSteamTrades: (...args) => observe(session.listSteamTrades(...args)),
    acknowledgeProtection: (...args) => observe(session.acknowledgeProtection(...args)),
    close: () => session.close(),
  }
}
