import type { Market } from './sandbox.ts'
import { reactionsDue, reversalsDue } from './world/buyers.ts'
import { listingsForPassers } from './world/deals.ts'
import { judge } from './world/outcomes.ts'
import { readingsDue, recordInventory } from './world/sellers.ts'

/** One round of a market: reads Steam, lets passers-by buy, and lets buyers act on Steam. */
export async function lookAtSteam(market: Market): Promise<void> {
  const aheadS = await market.steam.aheadS()
  market.change((world) => ({ world: { ...world, aheadS }, answer: undefined }))
  await readInventories(market)
  await letPassersBuy(market)
  await followDeals(market)
}

async function readInventories(market: Market): Promise<void> {
  for (const { seller, appId } of readingsDue(market.world(), market.nowS())) {
    const { steamId, accessToken } = seller
    const isBroken = market.faults.isOn('inventory-not-read')
    const items =
      accessToken === undefined || isBroken
        ? undefined
        : await market.steam.inventory(accessToken, steamId, appId)
    market.change((world, nowS) => ({
      world: recordInventory(world, { steamId, appId, items }, nowS),
      answer: undefined,
    }))
  }
}

async function letPassersBuy(market: Market): Promise<void> {
  if (!market.faults.isOn('passers-buy')) return
  const lowestOf = ({ name, currency }: { name: string; currency: 'USD' | 'EUR' | 'RUB' }) =>
    market.prices.lowest(name, currency)
  for (const { itemId } of listingsForPassers(market.world(), lowestOf, market.nowS())) {
    await market.buy([itemId], 'accepts')
  }
}

async function followDeals(market: Market): Promise<void> {
  const isLate = market.faults.isOn('reversal-late')
  // The second pass judges what buyers did on Steam in the first one.
  for (let pass = 0; pass < 2; pass += 1) {
    const isBusy = market
      .world()
      .items.some(
        ({ status, outcome }) =>
          status === 'sold' ||
          status === 'waiting' ||
          outcome?.kind === 'settling' ||
          (isLate && outcome?.kind === 'paid'),
      )
    if (!isBusy) return
    const [offers, trades] = [await market.steam.offers(), await market.steam.trades()]
    market.change((world, nowS) => ({
      world: judge(world, { offers, trades, isLate }, nowS),
      answer: undefined,
    }))
    const reactions = reactionsDue(market.world(), offers, market.nowS())
    const reversals = reversalsDue(market.world(), market.nowS())
    for (const reaction of reactions) await market.steam.act(reaction)
    for (const steamId of reversals) await market.steam.reverse(steamId)
    if (reactions.length + reversals.length === 0) return
  }
}
