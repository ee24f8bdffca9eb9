/** Hands that give in the Steam sandbox, with its own account and phone: the vault's are tested with the vault. */
import { confirmOffer, endOffer, sendOffer } from '../../steam-sandbox/world/offers.ts'
import { STATE, TRADE } from '../../steam-sandbox/world/world.ts'
import type { Gift, Hands, SeenOffer } from '../giving/gift.ts'
import type { MarketStand } from './market-stand.ts'

export function sandboxHands({ steam, seller }: MarketStand): Hands {
  const by = seller.steamId
  const offers = () => steam.world().offers.filter(({ sender }) => sender === by)
  const isOf = (gift: Gift) => (offer: { message: string; partner: string }) =>
    offer.message === gift.message && offer.partner === gift.partnerSteamId
  return {
    async send({ partnerSteamId, token, message, assets }) {
      const intent = { sender: by, partner: partnerSteamId, token, message, items: [] }
      const sent = steam.change((world, nowS) => sendOffer(world, { ...intent, give: [...assets] }, nowS))
      return sent.kind === 'sent'
        ? { kind: 'sent', offerId: sent.offerId }
        : { kind: 'refused', because: String(sent.eresult) }
    },
    async find(gift) {
      const offer = offers().findLast(isOf(gift))
      return offer ? { kind: 'found', offerId: offer.id } : { kind: 'none' }
    },
    read: async (offerId) => {
      const offer = offers().find(({ id }) => id === offerId)
      return offer && seen(offer)
    },
    async confirm(offerId) {
      const answer = steam.change((world, nowS) => confirmOffer(world, { offerId, allow: true }, nowS))
      return answer.kind === 'confirmed'
    },
    async cancel(offerId) {
      steam.change((world, nowS) => endOffer(world, { offerId, by, how: 'cancel' }, nowS))
    },
    async hasGiven(steamTradeId, { assets }) {
      const trade = steam.world().trades.find(({ id }) => id === steamTradeId)
      const given = trade?.items.filter(({ from }) => from === by).map(({ assetId }) => assetId) ?? []
      const isAll = assets.every(({ assetId }) => given.includes(assetId)) && given.length === assets.length
      return trade?.status === TRADE.complete && isAll
    },
  }
}

function seen({ state, tradeId }: { state: number; tradeId?: string }): SeenOffer {
  switch (state) {
    case STATE.needsConfirmation:
      return { state: 'needs_confirmation' }
    case STATE.active:
      return { state: 'active' }
    case STATE.inEscrow:
      return { state: 'in_escrow' }
    case STATE.accepted:
      return { state: 'accepted', steamTradeId: tradeId ?? null }
    case STATE.declined:
      return { state: 'ended', how: 'declined' }
    case STATE.countered:
      return { state: 'ended', how: 'countered' }
    case STATE.expired:
      return { state: 'ended', how: 'expired' }
    case STATE.invalidItems:
      return { state: 'ended', how: 'invalid' }
    default:
      return { state: 'ended', how: 'withdrawn' }
  }
}
