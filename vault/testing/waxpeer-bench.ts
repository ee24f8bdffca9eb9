/** Puts an account online at the simulated Waxpeer, lists its items and sells them. */
import { expect } from 'vitest'
import type { Temper } from '../../market-sandbox/world/world.ts'
import type { Market } from '../markets/market.ts'
import { type MarketBench, START_MS, unwrap } from './market-bench.ts'

export type WaxpeerBench = ReturnType<typeof openWaxpeerBench>

/** `client`: the client that the test uses now. `token`: the account's access token. */
export function openWaxpeerBench(
  bench: MarketBench,
  { client, token }: { client: () => Market; token: string },
) {
  /** Pings until the market counts the account as online. This takes a while, because the socket is real. */
  async function goOnline(): Promise<void> {
    await unwrap(client().setTradeToken('abcd1234'))
    await expect
      .poll(
        async () => {
          await client().keepOnline(token)
          return (await unwrap(client().ready())).problems
        },
        { timeout: 60_000 },
      )
      .toEqual([])
  }

  async function prepareToSell(appId: number): Promise<void> {
    await goOnline()
    await unwrap(client().refresh(appId))
    await bench.advanceSteam(15)
  }

  const findItem = (assetId: string) =>
    bench.market.waxpeer.world().items.findLast((item) => item.assetId === assetId)

  async function listOne(appId: number): Promise<string> {
    await prepareToSell(appId)
    const [assetId = ''] = bench.assetsOf(appId)
    expect(await unwrap(client().list(appId, [{ assetId, priceMinor: 100n }]))).toEqual([
      { kind: 'listed', assetId, itemId: assetId },
    ])
    return assetId
  }

  /** Lists an item at $1.00; a buyer of this temper buys it. */
  async function sell(appId: number, temper: Temper) {
    const assetId = await listOne(appId)
    // A ping is due by now.
    await goOnline()
    // Buyers use the market's own number of an item. Its seller knows the item by the asset id.
    expect((await bench.market.waxpeer.buy([findItem(assetId)?.itemId ?? 0], temper)).kind).toBe('bought')
    const [due] = (await unwrap(client().round(appId))).due
    if (!due) throw new Error('nothing is due')
    return { due, assetId }
  }

  const outcomes = (appId: number) => unwrap(client().outcomes(appId, new Date(START_MS - 1000)))

  return { goOnline, prepareToSell, findItem, listOne, sell, outcomes }
}
