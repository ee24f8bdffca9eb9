/** A till whose database has a year of rows, and whose statements are observed. */
import { createQueue } from '../../gateway/db/boss-queue.ts'
import { openDatabase } from '../../gateway/db/client.ts'
import { migrate } from '../../gateway/db/migrate.ts'
import { createSignals } from '../../gateway/db/pg-signals.ts'
import { captureLog } from '../../gateway/testing/log.ts'
import { tillOn } from '../../gateway/testing/till.ts'
import { type ObservedPool, type ObservedStatement, observePool } from './explained-pool.ts'
import { fillYear, type Size } from './rows.ts'
import type { Task } from './task.ts'
import { tasksOf } from './tasks.ts'

export type Measured = {
  name: string
  statements: number
  ms: number
  rows: number
  /** Whether the task may read whole tables, because it runs only once a day. Then `complaints` stays empty. */
  readsAll: boolean
  /** Complete reads of growing tables. */
  complaints: string[]
  slowest: { ms: number; text: string }
}

/** Migrates and fills the empty database at `url`. */
export async function openYear(url: string, size: Size) {
  await migrate({ url })
  const beganMs = performance.now()
  const bytes = await fillYear(url, size)
  const filledS = (performance.now() - beganMs) / 1_000
  const bytesPerDeposit = Math.round(bytes / size.deposits)
  console.log(`year: ${size.deposits} deposits in ${filledS.toFixed(0)} s, ${bytesPerDeposit} bytes each`)
  const { log, lines } = captureLog()
  const [queue, signals, database] = await Promise.all([
    createQueue({ url, log }),
    createSignals({ url, log }),
    openDatabase(url, 1),
  ])
  // The parts are closed by `close` below, not by the till.
  const till = await tillOn({ db: database.db, url, queue, signals, log, lines, close: async () => {} })
  const observed = await observePool(url)
  const { tasks, db } = tasksOf(till, observed)
  const close = async () => {
    await db.destroy()
    await Promise.all([queue.stop(), signals.close(), database.close()])
  }
  return { tasks, db, observed, lines, bytesPerDeposit, [Symbol.asyncDispose]: close }
}

/** Runs the task, and measures its statements, without the time for EXPLAIN. */
export async function measure(
  { name, readsAll = false, run }: Task,
  { takeStatements }: ObservedPool,
): Promise<Measured> {
  takeStatements()
  await run()
  const statements = takeStatements()
  return {
    name,
    statements: statements.length,
    ms: statements.reduce((sum: number, { ms }: ObservedStatement) => sum + ms, 0),
    rows: statements.reduce((sum, { rows }) => sum + rows, 0),
    readsAll,
    slowest: statements.reduce((slowest, { ms, text }) => (ms > slowest.ms ? { ms, text } : slowest), {
      ms: 0,
      text: '',
    }),
    complaints: readsAll ? [] : [...new Set(statements.flatMap(({ complaints }) => complaints))],
  }
}
