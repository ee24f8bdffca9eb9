/**
 * Buyers who keep buying while the vault is killed and started again; Steam's support, which takes items back; and a
 * clock that is faster than the machine's.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { ListingStatus, Temper } from '../../../market-sandbox/world/world.ts'
import { isProtectedNow, reverseTrade } from '../../../steam-sandbox/world/trades.ts'
import type { Random } from '../../random.ts'
import { passSeconds, type SellingTill } from './till.ts'

const POLL_MS = 250
/** The share of the gifts to the selling account that Steam's support takes back while a market shows their items. */
const UNDONE_SHARE = 0.15
/** The longest time until Steam's support takes a gift back. */
const MOST_UNDO_DELAY_MS = 4_000
/** Statuses of items that a market shows as for sale or sold. */
const ON_MARKET: readonly ListingStatus[] = ['on_sale', 'sold', 'waiting']
/** The probability of a purchase at each poll of a market, and the probability that a purchase has two items. */
const BUY_CHANCE = 0.5
const BUY_TWO_CHANCE = 0.25
/** Simulated seconds per real second. */
const SPEED = 6
/** How buyers react to their offers. The more often a reaction is listed, the likelier it is. */
const TEMPERS: readonly [Temper, ...Temper[]] = [
  ...(['accepts', 'accepts', 'accepts', 'accepts', 'accepts', 'eager', 'eager'] as const),
  ...(['late', 'never', 'declines', 'counters', 'escrow', 'reverses', 'reverses'] as const),
]

export type SaleLoad = {
  /** While true, nobody buys and Steam's support takes nothing back, so time can jump without ending open sales. */
  isCalm: boolean
  purchases(): number
  end(): Promise<void>
}

export function startSaleLoad(till: SellingTill, random: Random): SaleLoad {
  const ending = new AbortController()
  const load = { isCalm: false, count: 0 }
  const buyers = runBuyers(till, { random, ending: ending.signal, load })
  const time = runTime(till, ending.signal)
  const support = letSupportUndo(till, { random, ending: ending.signal, load })
  return {
    get isCalm() {
      return load.isCalm
    },
    set isCalm(isCalm) {
      load.isCalm = isCalm
    },
    purchases: () => load.count,
    async end() {
      ending.abort()
      await Promise.all([buyers, time, support])
    },
  }
}

type Buying = { random: Random; ending: AbortSignal; load: { isCalm: boolean; count: number } }

async function runBuyers({ market }: SellingTill, { random, ending, load }: Buying): Promise<void> {
  while (!ending.aborted) {
    for (const sandbox of [market, market.waxpeer]) {
      const listed = sandbox.world().items.filter(({ status }) => status === 'on_sale')
      const first = listed[random.int(Math.max(1, listed.length))]
      if (first === undefined || load.isCalm || !random.chance(BUY_CHANCE)) continue
      const second = listed.find(({ appId, itemId }) => appId === first.appId && itemId !== first.itemId)
      const wanted = second !== undefined && random.chance(BUY_TWO_CHANCE) ? [first, second] : [first]
      // The market refuses while the seller is offline.
      const bought = await sandbox.buy(
        wanted.map(({ itemId }) => itemId),
        random.pick(TEMPERS),
      )
      if (bought.kind === 'bought') load.count += 1
    }
    await delay(POLL_MS)
  }
}

/**
 * Acts as Steam's support: takes back items that a bot gave to the selling account, while a market shows them as
 * for sale or sold.
 */
async function letSupportUndo(till: SellingTill, { random, ending, load }: Buying): Promise<void> {
  /** When each gift will be taken back; null for never. */
  const plans = new Map<string, number | null>()
  const { steam, market, seller } = till
  while (!ending.aborted) {
    await delay(POLL_MS)
    if (load.isCalm) continue
    const offered = new Set(
      [market, market.waxpeer].flatMap((sandbox) =>
        sandbox.world().items.flatMap(({ status, assetId }) => (ON_MARKET.includes(status) ? [assetId] : [])),
      ),
    )
    for (const { id, partner, items } of steam.world().trades) {
      if (partner !== seller || !items.some(({ newAssetId = '' }) => offered.has(newAssetId))) continue
      const now = performance.now()
      const plan = plans.get(id)
      if (plan === undefined)
        plans.set(id, random.chance(UNDONE_SHARE) ? now + random.int(MOST_UNDO_DELAY_MS) : null)
      if (plan === undefined || plan === null || now < plan) continue
      plans.set(id, null)
      steam.change((world, nowS) => reverseTrade(world, { tradeId: id, bySupport: true }, nowS))
    }
  }
}

/**
 * As the account that sells, takes back a sale whose items Steam still protects and whose money a market still keeps.
 * Resolves to false if there is none.
 */
export async function takeSaleBack({ market, steam }: SellingTill): Promise<boolean> {
  const nowS = steam.change((world, nowS) => ({ world, answer: nowS }))
  const isProtected = (tradeId: string): boolean =>
    steam.world().trades.some((trade) => trade.id === tradeId && isProtectedNow(trade, nowS))
  for (const sandbox of [market, market.waxpeer]) {
    const settlingItem = sandbox
      .world()
      .items.find(({ outcome }) => outcome?.kind === 'settling' && isProtected(outcome.tradeId))
    if (settlingItem?.hash !== undefined && (await sandbox.takeBack(settlingItem.hash))) return true
  }
  return false
}

async function runTime(till: SellingTill, ending: AbortSignal): Promise<void> {
  while (!ending.aborted) {
    await delay(1_000)
    // The second that really passes counts too.
    await passSeconds(till, SPEED - 1)
  }
}
