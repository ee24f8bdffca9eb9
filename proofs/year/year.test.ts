/** A small part of `npm run prove -- year`. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTill, type Till } from '../../gateway/testing/till.ts'
import { BOUNDED, GROWING, type ObservedPool, observePool, VIEWS } from './explained-pool.ts'
import { ON_REQUEST, onRequestEntry } from './on-request.ts'
import { fillYear } from './rows.ts'
import { functionsThatQuery, functionsThatRan } from './statements.ts'
import type { Task } from './task.ts'
import { tasksOf } from './tasks.ts'
import { measure } from './till.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Enough deposits per day for the bots to still have items whose protection is over. */
const SIZE = { deposits: 2_000, stores: 5, bots: 8, days: 60 }
/**
 * The planner would read such small tables completely. These settings make it prefer an index, so a full read means
 * that one is missing.
 */
const BY_INDEX = 'set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off'

let till: Till
let observed: ObservedPool
let tasks: Task[]
let close: () => Promise<void>

beforeAll(async () => {
  till = await startTill()
  await fillYear(till.url, SIZE)
  observed = await observePool(till.url, BY_INDEX)
  const automatic = tasksOf(till, observed)
  tasks = automatic.tasks
  close = () => automatic.db.destroy()
})
afterAll(async () => {
  await close()
  await till.close()
})

/** The sources that may ask the database while a gateway or a vault runs. */
const sources = () =>
  execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'gateway', 'vault'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => /\.ts$/.test(file) && !/\.(test|d)\.ts$|\/testing\//.test(file))

test('every automatic statement on a growing table runs here, and only the daily ledger check reads a whole table', async () => {
  const complaints: string[] = []
  let statements = 0
  const steps = tasks.map((task) => async () => {
    const measured = await measure(task, observed)
    statements += measured.statements
    complaints.push(...measured.complaints.map((complaint) => `${task.name} ${complaint}`))
  })
  const ran = await functionsThatRan(ROOT, steps)
  expect(complaints).toEqual([])
  // Fewer would mean that the pool no longer observes them.
  expect(statements).toBeGreaterThan(200)
  expect(till.lines.filter((line) => line.includes('the ledger does not agree'))).toEqual([])

  const tables = [...GROWING, ...VIEWS]
  const queryingFunctions = sources().flatMap((file) =>
    functionsThatQuery(file, readFileSync(join(ROOT, file), 'utf8'), tables),
  )
  const notRun = queryingFunctions.filter((place) => !ran.has(place))
  // A new statement belongs in tasks.ts, visits.ts or jobs.ts, or in on-request.ts if it never runs automatically.
  expect(notRun.filter((place) => onRequestEntry(place) === undefined)).toEqual([])
  const used = new Set(notRun.map(onRequestEntry))
  expect(Object.keys(ON_REQUEST).filter((entry) => !used.has(entry))).toEqual([])
})

test('every table is listed as growing or as bounded', async () => {
  const { rows } = await sql<{ name: string; kind: string }>`
    select relname as name, relkind as kind from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'v', 'p', 'm') order by 1`.execute(
    till.db,
  )
  const ofKind = (kind: string) => rows.flatMap((row) => (row.kind === kind ? [row.name] : []))
  expect(ofKind('r')).toEqual([...GROWING, ...BOUNDED].sort())
  expect(ofKind('v')).toEqual([...VIEWS].sort())
  // Partitioned tables and materialized views would need lists of their own.
  expect([...ofKind('p'), ...ofKind('m')]).toEqual([])
})
