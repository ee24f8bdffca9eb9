/**
 * Cuts the connection to PostgreSQL after every message of the crediting transaction, and at bytes chosen by a seed.
 * The next attempt must find exactly one credit, or make it.
 */
import { z } from 'zod'
import { verifyLedger } from '../../gateway/ledger/verify.ts'
import type { Delivery } from '../../gateway/testing/delivery.ts'
import { seededRandom } from '../random.ts'
import type { Cut, Passed } from './proxy.ts'
import { type CutTill, openCutTill } from './till.ts'

export type CutReport = {
  /** Messages and bytes of the uncut transaction. */
  uncut: Passed
  cuts: number
  /** How many times the credit was made although the caller got an error. */
  creditedUnheard: number
  problems: string[]
}

/** `everyMessage`: whether to cut after each message. `offsets`: how many cuts to make at bytes chosen by the seed. */
type Plan = { serverUrl: string; everyMessage: boolean; offsets: number; seed: number }

export async function cutSockets({ serverUrl, everyMessage, offsets, seed }: Plan): Promise<CutReport> {
  const till = await openCutTill(serverUrl)
  try {
    const uncut = await measureUncut(till)
    const random = seededRandom(seed)
    const places: Cut[] = [
      ...Array.from({ length: everyMessage ? uncut.messages : 0 }, (_, index) => ({
        afterMessages: index + 1,
      })),
      ...Array.from({ length: offsets }, () => ({ afterBytes: random.between(1, uncut.bytes) })),
    ]
    const report: CutReport = { uncut, cuts: 0, creditedUnheard: 0, problems: [] }
    for (const place of places) await cutOnce(till, place, report)
    const differences = await verifyLedger(till.direct.pool)
    report.problems.push(...differences.map(({ problem, detail }) => `${problem}: ${detail}`))
    return report
  } finally {
    await till.close()
  }
}

/**
 * Measures the second of two credits, because the first also creates the operator's accounts. Each is to a new store.
 */
async function measureUncut(till: CutTill): Promise<Passed> {
  await till.credit(await till.makeDelivery())
  const delivery = await till.makeDelivery()
  till.proxy.arm('never')
  await till.credit(delivery)
  return till.proxy.disarm()
}

async function cutOnce(till: CutTill, place: Cut, report: CutReport): Promise<void> {
  const delivery = await till.makeDelivery()
  till.proxy.arm(place)
  const hasFailed = await till.credit(delivery).then(
    () => false,
    () => true,
  )
  const { isCut } = till.proxy.disarm()
  const where = JSON.stringify(place)
  if (isCut) report.cuts += 1
  // A cut at the very last byte loses nothing.
  if (isCut && hasFailed && (await isCredited(till, delivery))) report.creditedUnheard += 1
  // Credits again, as the sweep does for every due trade, and twice, because jobs can be duplicated.
  await creditAgain(till, delivery)
  await creditAgain(till, delivery)
  const problem = await problemOf(till, delivery)
  if (problem !== undefined) report.problems.push(`${where}: ${problem}`)
}

const MOST_TRIES = 3

/** Retries, because the first query after a cut may still get the broken connection. */
async function creditAgain(till: CutTill, delivery: Delivery): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await till.credit(delivery)
    } catch (error) {
      if (tries === MOST_TRIES) throw error
    }
  }
}

async function isCredited({ direct }: CutTill, { tradeId }: Delivery): Promise<boolean> {
  const { rowCount } = await direct.pool.query('select 1 from ledger_entry where trade_id = $1', [tradeId])
  return (rowCount ?? 0) > 0
}

const bookingSchema = z.object({
  balance: z.bigint(),
  events: z.number(),
  jobs: z.number(),
  custody: z.number(),
  items: z.number(),
  state: z.string(),
  status: z.string(),
})

async function problemOf({ direct }: CutTill, delivery: Delivery): Promise<string | undefined> {
  const { rows } = await direct.pool.query(
    `select trade.state, deposit.status,
      (select coalesce(sum(balance), 0)::int8 from account where store_id = $2) as balance,
      (select count(*)::int from event where deposit_id = deposit.id) as events,
      (select count(*)::int from pgboss.job where data ->> 'tradeId' = trade.id::text) as jobs,
      (select count(*)::int from custody_entry where trade_id = trade.id) as custody,
      (select count(*)::int from trade_item where trade_id = trade.id) as items
    from trade join deposit on deposit.id = trade.deposit_id where trade.id = $1`,
    [delivery.tradeId, delivery.storeId],
  )
  const booking = bookingSchema.parse(rows[0])
  const isRight =
    booking.state === 'held' &&
    booking.status === 'succeeded' &&
    booking.balance === delivery.total &&
    booking.events === 1 &&
    booking.jobs === 1 &&
    booking.custody === booking.items
  return isRight
    ? undefined
    : JSON.stringify(booking, (_, value) => (typeof value === 'bigint' ? `${value}` : value))
}
