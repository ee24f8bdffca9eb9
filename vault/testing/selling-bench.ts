import type { MarketName } from '../../contract/markets.ts'
import { BOT, openTestBench, type TestBench } from './test-bench.ts'

const WEDNESDAY = 3

type Options = { markets?: readonly MarketName[]; marketDeadlineMs?: number }

/**
 * A bench on a Wednesday morning, long before Steam's maintenance, with a bot and an account that may sell at a loss.
 * `seller`: the Steam id of that account.
 */
export async function openSellingBench(options: Options = {}): Promise<{ bench: TestBench; seller: string }> {
  const { markets, ...benchOptions } = options
  const bench = await openTestBench(benchOptions)
  bench.advanceTo({ day: WEDNESDAY, hour: 8 })
  bench.enrol(BOT)
  return { bench, seller: bench.setUpSeller({ mayLose: true, ...(markets && { markets }) }) }
}
