/** Buyers who keep coming while the vault dies and returns, and a clock that runs faster than the machine's. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Temper } from '../../../market-sandbox/world/world.ts'
import type { Random } from '../../random.ts'
import { pass, type SellingTill } from './till.ts'

const LOOK_MS = 250
/** The probability of a purchase at each look at a market, and that it has two items. */
const BUYS = 0.5
const BUYS_TWO = 0.25
/** Simulated seconds in each second. */
const TIMES = 6
const TEMPERS: readonly [Temper, ...Temper[]] = [
  ...(['accepts', 'accepts', 'accepts', 'accepts', 'accepts', 'eager', 'eager'] as const),
  ...(['late', 'never', 'declines', 'counters', 'escrow', 'reverses', 'reverses'] as const),
]

export type SaleLoad = {
  /** Stops purchases while true, so time can jump without ending open sales. */
  isCalm: boolean
  bought(): number
  end(): Promise<void>
}

export function startBuyers(till: SellingTill, random: Random): SaleLoad {
  const ending = new AbortController()
  const load = { isCalm: false, count: 0 }
  const buyers = buy(till, { random, ending: ending.signal, load })
  const time = runTime(till, ending.signal)
  return {
    get isCalm() {
      return load.isCalm
    },
    set isCalm(isCalm) {
      load.isCalm = isCalm
    },
    bought: () => load.count,
    async end() {
      ending.abort()
      await Promise.all([buyers, time])
    },
  }
}

type Buying = { random: Random; ending: AbortSignal; load: { isCalm: boolean; count: number } }

async function buy({ market }: SellingTill, { random, ending, load }: Buying): Promise<void> {
  while (!ending.aborted) {
    for (const door of [market, market.waxpeer]) {
      const listed = door.world().items.filter(({ status }) => status === 'on_sale')
      const first = listed[random.int(Math.max(1, listed.length))]
      if (first === undefined || load.isCalm || !random.chance(BUYS)) continue
      const second = listed.find(({ appId, itemId }) => appId === first.appId && itemId !== first.itemId)
      const wanted = second !== undefined && random.chance(BUYS_TWO) ? [first, second] : [first]
      // The market refuses while the seller is offline.
      const bought = await door.buy(
        wanted.map(({ itemId }) => itemId),
        random.pick(TEMPERS),
      )
      if (bought.kind === 'bought') load.count += 1
    }
    await delay(LOOK_MS)
  }
}

async function runTime(till: SellingTill, ending: AbortSignal): Promise<void> {
  while (!ending.aborted) {
    await delay(1_000)
    await pass(till, TIMES - 1)
  }
}
