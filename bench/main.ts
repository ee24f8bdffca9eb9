/**
 * `npm run bench -- start`: seconds from `npm start` until all three answer.
 * `npm run bench -- poll`: unchanged polls a second, and the queries that they run.
 */
import { openDeposit } from '../e2e/calls.ts'
import { type Parts, startParts } from '../e2e/parts.ts'
import { endTill, startTill } from '../e2e/till.ts'

const START_LIMIT_MS = 6000
const POLLS = 2000
const AT_ONCE = 20

async function benchStart(): Promise<boolean> {
  const begin = performance.now()
  const till = await startTill()
  const tookMs = performance.now() - begin
  await endTill(till)
  console.log(`start: ready in ${(tookMs / 1000).toFixed(2)} s, at most ${START_LIMIT_MS / 1000} s`)
  return tookMs <= START_LIMIT_MS
}

async function benchPoll(): Promise<boolean> {
  const parts = await startParts()
  try {
    const { hash } = await openDeposit(parts)
    const url = `${parts.place.gateway}/api/payment?hash=${hash}`
    const etag = (await fetch(url)).headers.get('etag') ?? ''
    const before = await transactions(parts)
    const begin = performance.now()
    let unchanged = 0
    const poller = async (): Promise<void> => {
      for (let n = 0; n < POLLS / AT_ONCE; n += 1) {
        const answer = await fetch(url, { headers: { 'if-none-match': etag } })
        await answer.arrayBuffer()
        if (answer.status === 304) unchanged += 1
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, poller))
    const seconds = (performance.now() - begin) / 1000
    const ran = (await transactions(parts)) - before
    console.log(
      `poll: ${unchanged} of ${POLLS} answered 304, ${Math.round(POLLS / seconds)} a second; ` +
        `the database saw ${ran} transactions in ${seconds.toFixed(2)} s, those of everything else included`,
    )
    return unchanged === POLLS && ran < POLLS / 4
  } finally {
    await parts.end()
  }
}

async function transactions(parts: Parts): Promise<number> {
  const [row] = await parts.query(
    'select (xact_commit + xact_rollback)::int as n from pg_stat_database where datname = current_database()',
  )
  return Number(row?.n)
}

const BENCHES: Record<string, () => Promise<boolean>> = { start: benchStart, poll: benchPoll }

const chosen = process.argv.slice(2)
for (const name of chosen.length > 0 ? chosen : Object.keys(BENCHES)) {
  const bench = BENCHES[name]
  if (bench === undefined)
    throw new Error(`There is no bench called ${name}: ${Object.keys(BENCHES).join(', ')}`)
  if (!(await bench())) process.exitCode = 1
}
