import { MARKETS } from '../../contract/markets.ts'
import type { Tx } from '../db/client.ts'
import { act } from './act.ts'
import {
  isInBooks,
  type ListedMarket,
  selectMarkets,
  selectUnlisted,
  selectVaultNeeds,
  setMarketOff,
  type UnlistedItems,
  type VaultNeed,
} from './market-store.ts'
import { type ActDeps, type Answer, done, type ReadDeps, refused, unchanged } from './operation.ts'

/** `unlisted`: why items of the vault's accounts are not on sale, as the vault reports it. */
export type MarketList = { markets: ListedMarket[]; needs: VaultNeed[]; unlisted: UnlistedItems[] }
export type MarketSwitch = { market: string; isOff: boolean }

const NAME = /^[a-z0-9][a-z0-9.-]{0,39}$/

export async function listMarkets({ db }: ReadDeps): Promise<Answer<MarketList>> {
  return done({
    markets: await selectMarkets(db),
    needs: await selectVaultNeeds(db),
    unlisted: await selectUnlisted(db),
  })
}

/**
 * While a market is off, the vault lists nothing there and takes its listings down. It still delivers sold items and
 * follows the money.
 */
export function switchMarket(deps: ActDeps, { market, isOff }: MarketSwitch): Promise<Answer<MarketSwitch>> {
  const namedAct = {
    name: `market ${isOff ? 'off' : 'on'}`,
    argumentsOf: ({ market }: MarketSwitch) => ({ market }),
  }
  return act(deps, namedAct, async (tx) => {
    if (!NAME.test(market))
      return refused('usage', 'A market name is in lower case, such as market.csgo.com.')
    const view = { market, isOff }
    const isChanged = await setMarketOff(tx, market, isOff)
    // An unknown market that an earlier release switched off can be switched on. A refusal rolls the change back.
    if ((isOff || !isChanged) && !(await isKnown(tx, market)))
      return refused('not_found', unknownText(market))
    if (!isChanged) return unchanged(view, `${market} is ${isOff ? 'off' : 'on'} already.`)
    return done(
      view,
      isOff ? `${market} is off. ${OFF_TEXT}` : `${market} is on, unless the vault has switched it off.`,
    )
  })
}

const isKnown = async (tx: Tx, market: string): Promise<boolean> =>
  MARKETS.some((each) => each === market) || (await isInBooks(tx, market))

const unknownText = (market: string): string =>
  `There is no market ${market}. The vault sells on ${MARKETS.join(' and ')}. For others in the books, see market list.`

const OFF_TEXT = 'Within a minute the vault takes down its listings there; sold items are still delivered.'
