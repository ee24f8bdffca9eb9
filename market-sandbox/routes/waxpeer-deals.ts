/** Waxpeer's description of a sale that must be handed over, for the poll and for the socket. */
import { WAXPEER_GAMES } from '../games.ts'
import type { Market } from '../sandbox.ts'
import { SELLER_SHARE } from '../world/outcomes.ts'
import type { Deal } from '../world/world.ts'
import { accountIdOf, type Claim, claimOf } from './claim.ts'

/** Seconds to hand over while the fault `send-soon` is on. */
const SOON_S = 20

/** The seller's deadline to hand over the items, in seconds since 1970. */
export const handOverUntilS = ({ faults }: Market, { madeAtS, deadlineS }: Deal): number =>
  faults.isOn('send-soon') ? madeAtS + SOON_S : deadlineS

const gameOf = (appId: number): string =>
  Object.entries(WAXPEER_GAMES).find(([, id]) => id === appId)?.[0] ?? 'csgo'

const toIso = (seconds: number): string => new Date(seconds * 1000).toISOString()

/** Names the recipient as a trade link does. */
function linkOf({ faults }: Market, { partnerSteamId, token }: Claim): string {
  const fields = [`partner=${accountIdOf(partnerSteamId)}`, `token=${token}`]
  if (faults.isOn('link-reordered')) fields.reverse()
  return `https://steamcommunity.com/tradeoffer/new/?${fields.join('&')}`
}

/** A row of `ready-to-transfer-p2p`. */
export function handOverOf(market: Market, deal: Deal) {
  const claim = claimOf(market, deal)
  const { assets, sold, partnerSteamId, message } = claim
  const priceOf = (assetId: string): number => {
    const price = sold.find((item) => item.assetId === assetId)?.price ?? sold[0]?.price ?? 0
    return market.faults.isOn('lies-price') ? Math.floor(price / 2) : price
  }
  return {
    id: sold[0]?.itemId,
    costum_id: deal.hash,
    trade_id: null,
    tradelink: linkOf(market, claim),
    trade_message: message,
    done: false,
    stage: 1,
    creator: 'market',
    send_until: toIso(handOverUntilS(market, deal)),
    last_updated: toIso(deal.madeAtS),
    for_steamid64: partnerSteamId,
    items: assets.map((assetId) => ({
      item_id: assetId,
      give_amount: Math.floor(priceOf(assetId) * SELLER_SHARE),
      price: priceOf(assetId),
      game: gameOf(deal.appId),
      status: 0,
    })),
  }
}

/**
 * The message of the socket about the same sale. `them` contains the items too, as in a public recording of the real
 * socket.
 */
export function pushOf(market: Market, deal: Deal) {
  const claim = claimOf(market, deal)
  const { assets, partnerSteamId, message } = claim
  const side = (ids: readonly string[]) => ({
    assets: ids.map((assetid) => ({ appid: deal.appId, contextid: '2', amount: 1, assetid })),
    currency: [],
    ready: false,
  })
  return {
    waxid: deal.hash,
    wax_id: deal.hash,
    json_tradeoffer: { newversion: true, version: 2, me: side(assets), them: side(assets) },
    tradeoffermessage: message,
    tradelink: linkOf(market, claim),
    partner: partnerSteamId,
    created: toIso(deal.madeAtS),
    now: toIso(market.nowS()),
    send_until: toIso(handOverUntilS(market, deal)),
  }
}
