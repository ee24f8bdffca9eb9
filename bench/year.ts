/**
 * `npm run bench -- year`: the tasks of the gateway and the vault on a till that is a year old, compared with one that is
 * eleven days old. Both get the same number of deposits per hour: 1,000,000 in a year, 30,000 in eleven days. Eleven
 * days, because some rows are kept for up to ten: both tills have equally many of them.
 */
import pg from 'pg'
import type { Db } from '../gateway/db/client.ts'
import { readEvents } from '../gateway/events/store.ts'
import { readStatement } from '../gateway/stores/balance-store.ts'
import type { Task } from '../proofs/year/task.ts'
import { measure, openYear } from '../proofs/year/till.ts'
import { withDatabase } from './database.ts'
import { median, type Outcome } from './outcome.ts'

const MANY = 1_000_000
const FEW = 30_000
const YEAR_DAYS = 365
const SHAPE = { stores: 500, bots: 50 }
/** How many times as long a task may take on the old till. */
const LIMIT = 1.5
const ROUNDS = 15
/** Shorter times count as this, because the ratio of such short times means nothing. */
const LEAST_MS = 2
/** How many events or movements a page has. */
const PAGE = 100

type Year = Awaited<ReturnType<typeof openYear>>

export function benchYear(): Promise<Outcome> {
  return withDatabase({ fsync: false }, async (serverUrl) => {
    await using young = await yearOf(serverUrl, FEW)
    await using old = await yearOf(serverUrl, MANY)
    return judge(await measureBoth(young, old), [young, old])
  })
}

async function yearOf(serverUrl: string, size: number): Promise<Year> {
  const url = new URL(serverUrl)
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  await client.query(`create database year_${size}`)
  await client.end()
  url.pathname = `/year_${size}`
  const days = (YEAR_DAYS * size) / MANY
  const year = await openYear(url.href, { ...SHAPE, deposits: size, days })
  year.tasks.push(...pagesOf(year.db))
  return year
}

/** Reads of a store's history; `bench -- stores` covers its deposits. */
function pagesOf(db: Db): Task[] {
  const readLastSequence = async () =>
    (await db.selectFrom('store').select('last_sequence').where('id', '=', 1n).executeTakeFirstOrThrow())
      .last_sequence
  return [
    { name: 'first page of events', run: () => readEvents(db, 1n, { after: 0, limit: PAGE }) },
    {
      name: 'newest page of events',
      run: async () =>
        readEvents(db, 1n, { after: Math.max(0, Number(await readLastSequence()) - PAGE), limit: PAGE }),
    },
    { name: 'page of the statement', run: () => readStatement(db, 1n, { currency: 'USD', limit: PAGE }) },
  ]
}

type Pair = {
  name: string
  youngMs: number
  oldMs: number
  youngRows: number
  oldRows: number
  /** The slowest statement of the old till's last round. */
  slowestStatement: string
}

/**
 * Runs each task once to do the due work, then measures it on both tills alternately, so other work on the machine
 * affects both. Skips tasks that read everything.
 */
async function measureBoth(young: Year, old: Year): Promise<Pair[]> {
  const pairs: Pair[] = []
  for (const [index, task] of young.tasks.entries()) {
    const oldTask = old.tasks[index]
    if (oldTask?.name !== task.name) throw new Error(`the tasks differ: ${task.name}`)
    if (task.readsAll) continue
    const [{ rows: youngRows }, { rows: oldRows }] = [
      await measure(task, young.observed),
      await measure(oldTask, old.observed),
    ]
    const times = { young: [] as number[], old: [] as number[] }
    let slowestStatement = ''
    for (let round = 0; round < ROUNDS; round += 1) {
      times.young.push((await measure(task, young.observed)).ms)
      const measured = await measure(oldTask, old.observed)
      times.old.push(measured.ms)
      slowestStatement = measured.slowest.text
    }
    const [youngMs, oldMs] = [median(times.young), median(times.old)]
    pairs.push({ name: task.name, youngMs, oldMs, youngRows, oldRows, slowestStatement })
  }
  return pairs
}

const ratioOf = ({ youngMs, oldMs }: Pair): number => Math.max(oldMs, LEAST_MS) / Math.max(youngMs, LEAST_MS)

/** The task that slows down most decides. */
function judge(pairs: readonly Pair[], [young, old]: readonly [Year, Year]): Outcome {
  for (const pair of pairs) {
    const times = `${pair.oldMs.toFixed(1)} ms on the old till, ${pair.youngMs.toFixed(1)} ms on the young one`
    console.log(`year: ${pair.name}: ${times}: ${ratioOf(pair).toFixed(2)} times`)
    if (ratioOf(pair) > LIMIT) console.log(pair.slowestStatement)
  }
  const mostRows = pairs.reduce((most, pair) => (pair.oldRows > most.oldRows ? pair : most))
  const rows = `${mostRows.oldRows} rows at most (${mostRows.name}; ${mostRows.youngRows} on the young till)`
  console.log(`year: a task loads ${rows} into memory`)
  console.log(
    `year: ${old.bytesPerDeposit} bytes a deposit on the old till, ${young.bytesPerDeposit} on the young one`,
  )
  const [worst] = [...pairs].sort((a, b) => ratioOf(b) - ratioOf(a))
  if (worst === undefined) throw new Error('nothing was measured')
  const ratio = ratioOf(worst)
  console.log(`year: ${worst.name} grows most`)
  return {
    name: 'year',
    ours: `${worst.oldMs.toFixed(1)}ms`,
    floor: `${worst.youngMs.toFixed(1)}ms`,
    ratio,
    limit: `<=${LIMIT}`,
    passed: ratio <= LIMIT,
  }
}
