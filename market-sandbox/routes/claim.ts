/** The market's description of a deal that must be handed over. Active faults make it false. */
import type { Market } from '../sandbox.ts'
import { buyerOf } from '../world/buyers.ts'
import { type Deal, itemsOf, type Listing } from '../world/world.ts'

/** The Steam id of the account with the number 0. */
const FIRST_STEAM_ID = 76561197960265728n
/** A message that looks like the secret code of a deposit. */
const DEPOSIT_MESSAGE = 'K7MXPQ'

/** `assets`: the asset ids that the offer must give. `sold`: the listings that were really bought. */
export type Claim = {
  assets: string[]
  sold: Listing[]
  partnerSteamId: string
  token: string
  message: string
}

export const accountIdOf = (steamId: string): number => Number(BigInt(steamId) - FIRST_STEAM_ID)

export function claimOf(market: Market, deal: Deal): Claim {
  const { faults } = market
  const world = market.world()
  const sold = itemsOf(world, deal)
  // An item that was never listed.
  const unsoldAssetId = String(BigInt(sold[0]?.assetId ?? '0') + 7n)
  return {
    assets: [
      ...(faults.isOn('lies-asset') ? [unsoldAssetId] : sold.map(({ assetId }) => assetId)),
      ...(faults.isOn('lies-more') ? [unsoldAssetId] : []),
    ],
    sold,
    partnerSteamId: faults.isOn('lies-partner') ? deal.seller : deal.buyer,
    token: buyerOf(world, deal)?.token ?? '',
    message: faults.isOn('lies-message') ? DEPOSIT_MESSAGE : deal.message,
  }
}
