/** Promises that sales keep at any moment, and once all has come to rest. The names are explained in docs/proofs.md. */
import { isSameSet } from '../../vault/giving/gift.ts'
import { isLive } from '../../vault/markets/book.ts'
import { hold } from '../simulation/violation.ts'
import { type ModelMarket, US } from './market.ts'
import type { Offer } from './steam.ts'
import type { Outside, VaultProcess } from './vault.ts'

const isOpenOrGiven = ({ seen }: Offer): boolean => seen.state !== 'ended'

export function checkNow({ steam, markets }: Outside, { record }: VaultProcess): void {
  const given = new Set<string>()
  const messages = new Set<string>()
  for (const offer of steam.offers) {
    const { gift, offerId } = offer
    const deals = markets.flatMap((market) => market.deals)
    const deal = deals.find(({ due }) => due.message === gift.message)
    const isMeant =
      deal !== undefined &&
      !deal.isForged &&
      deal.due.partnerSteamId === gift.partnerSteamId &&
      isSameSet(deal.due.assets, gift.assets)
    hold(isMeant && gift.partnerSteamId !== US, 'I20', () => `offer ${offerId} gives what nobody bought`)
    hold(!messages.has(gift.message), 'I21', () => `a second offer for ${gift.message}`)
    messages.add(gift.message)
    if (!isOpenOrGiven(offer)) continue
    for (const { assetId } of gift.assets) {
      hold(!given.has(assetId), 'I21', () => `${assetId} is in two offers`)
      given.add(assetId)
    }
  }
  const live = record.book().listings.filter(isLive)
  const assets = new Set(live.map(({ assetId }) => assetId))
  hold(assets.size === live.length, 'I21', () => 'an item is listed twice')
  const shown = markets.flatMap(({ items }) => items.filter(({ stage }) => stage === 'on_sale'))
  const distinct = new Set(shown.map(({ assetId }) => assetId))
  hold(distinct.size === shown.length, 'I21', () => 'an item is for sale on two markets')
}

export function checkRest(outside: Outside, vault: VaultProcess): void {
  const { steam, till, markets } = outside
  for (const [key, deal] of vault.record.book().deals) {
    const isOver = deal.state === 'delivered' || deal.state === 'ended'
    hold(isOver, 'I24', () => `the deal ${key} is ${deal.state}`)
  }
  for (const { seen, offerId } of steam.offers) {
    const isOpen = seen.state === 'active' || seen.state === 'in_escrow'
    hold(!isOpen, 'I24', () => `offer ${offerId} is ${seen.state}`)
  }
  for (const market of markets) for (const item of market.items) checkEnd(outside, { market, item })
  for (const [key, { sale }] of till.sales) {
    const isOver = ['paid', 'cancelled', 'reversed', 'late'].includes(sale.state)
    hold(isOver, 'I24', () => `the sale ${key} is ${sale.state}`)
  }
}

type Ended = { market: ModelMarket; item: ModelMarket['items'][number] }

/** The till says of each item what became of it in truth. */
function checkEnd({ till }: Outside, { market, item }: Ended): void {
  const { itemId, stage, end } = item
  const state = till.sales.get(`${market.name}/${itemId}`)?.sale.state
  if (stage === 'given') {
    const expected = end?.kind === 'cancelled' ? 'late' : end?.kind
    hold(state === expected, 'I24', () => `${itemId} was given and ${end?.kind}; the till says ${state}`)
    return
  }
  hold(stage !== 'on_sale', 'I24', () => `${itemId} is still for sale`)
  const isTold = state === undefined || state === 'cancelled' || state === 'late'
  hold(isTold, 'I24', () => `${itemId} was not given; the till says ${state}`)
}
