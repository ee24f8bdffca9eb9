import { act } from './act.ts'
import {
  type ListedMarket,
  selectMarkets,
  selectVaultNeeds,
  setMarketOff,
  type VaultNeed,
} from './market-store.ts'
import { type ActDeps, type Answer, done, type ReadDeps, refused, unchanged } from './operation.ts'

export type MarketList = { markets: ListedMarket[]; needs: VaultNeed[] }
export type MarketSwitch = { market: string; isOff: boolean }

const NAME = /^[a-z0-9][a-z0-9.-]{0,39}$/

export async function listMarkets({ db }: ReadDeps): Promise<Answer<MarketList>> {
  return done({ markets: await selectMarkets(db), needs: await selectVaultNeeds(db) })
}

/**
 * While a market is off, the vault lists nothing there and takes its listings down. It still delivers sold items and
 * follows the money.
 */
export function switchMarket(deps: ActDeps, { market, isOff }: MarketSwitch): Promise<Answer<MarketSwitch>> {
  const what = {
    name: `market ${isOff ? 'off' : 'on'}`,
    argumentsOf: ({ market }: MarketSwitch) => ({ market }),
  }
  return act(deps, what, async (tx) => {
    if (!NAME.test(market))
      return refused('usage', 'A market name is in lower case, such as market.csgo.com.')
    const view = { market, isOff }
    if (!(await setMarketOff(tx, market, isOff)))
      return unchanged(view, `${market} is ${isOff ? 'off' : 'on'} already.`)
    return done(
      view,
      isOff ? `${market} is off. ${OFF_TEXT}` : `${market} is on, unless the vault has switched it off.`,
    )
  })
}

const OFF_TEXT = 'Within a minute the vault takes down its listings there; sold items are still delivered.'
