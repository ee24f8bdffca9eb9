/**
 * `npm run bench -- start`: seconds until all three answer, on an empty data folder.
 * `npm run bench -- poll`: unchanged polls a second, and the queries that they run.
 * `npm run bench -- inventory`: CPU time of an inventory made into priced items, beside JSON.parse.
 * `npm run bench -- prices`: time of a refresh of 25,000 prices, and what pricing a basket takes meanwhile.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { openDeposit } from '../e2e/calls.ts'
import { type Parts, startParts } from '../e2e/parts.ts'
import { endTill, startTill } from '../e2e/till.ts'
import { benchInventory } from './inventory.ts'
import { benchPrices } from './prices.ts'

const START_LIMIT_MS = 6000
const WINDOW_MS = 6000
const AT_ONCE = 20

async function benchStart(): Promise<boolean> {
  const begin = performance.now()
  const till = await startTill()
  const tookMs = performance.now() - begin
  await endTill(till)
  console.log(`start: ready in ${(tookMs / 1000).toFixed(2)} s, at most ${START_LIMIT_MS / 1000} s`)
  return tookMs <= START_LIMIT_MS
}

/** Polls for WINDOW_MS at two rates: what the database sees must not grow with the polls. */
async function benchPoll(): Promise<boolean> {
  const parts = await startParts()
  try {
    const { hash } = await openDeposit(parts)
    const url = `${parts.place.gateway}/api/payment?hash=${hash}`
    const etag = (await fetch(url)).headers.get('etag') ?? ''
    const poll = async (): Promise<boolean> => {
      const answer = await fetch(url, { headers: { 'if-none-match': etag } })
      await answer.arrayBuffer()
      return answer.status === 304
    }
    const quiet = await measure(parts, { pollers: 1, pauseMs: 250 }, poll)
    const busy = await measure(parts, { pollers: AT_ONCE, pauseMs: 0 }, poll)
    const more = busy.transactions - quiet.transactions
    console.log(
      `poll: ${Math.round((busy.polls / WINDOW_MS) * 1000)} a second. In ${WINDOW_MS / 1000} s each, ` +
        `${quiet.polls} polls: ${quiet.transactions} transactions in the database, all of the till's own work; ` +
        `${busy.polls} polls: ${busy.transactions}, that is ${(more / (busy.polls - quiet.polls)).toFixed(4)} a poll`,
    )
    return quiet.unchanged && busy.unchanged && more < (busy.polls - quiet.polls) / 100
  } finally {
    await parts.end()
  }
}

type Rate = { pollers: number; pauseMs: number }

async function measure(parts: Parts, { pollers, pauseMs }: Rate, poll: () => Promise<boolean>) {
  const before = await transactions(parts)
  const end = performance.now() + WINDOW_MS
  let polls = 0
  let unchanged = true
  const poller = async (): Promise<void> => {
    while (performance.now() < end) {
      if (!(await poll())) unchanged = false
      polls += 1
      if (pauseMs > 0) await delay(pauseMs)
    }
  }
  await Promise.all(Array.from({ length: pollers }, poller))
  return { polls, unchanged, transactions: (await transactions(parts)) - before }
}

async function transactions(parts: Parts): Promise<number> {
  const [row] = await parts.query(
    'select (xact_commit + xact_rollback)::int as n from pg_stat_database where datname = current_database()',
  )
  return Number(row?.n)
}

const BENCHES: Record<string, () => Promise<boolean>> = {
  start: benchStart,
  poll: benchPoll,
  inventory: benchInventory,
  prices: benchPrices,
}

const chosen = process.argv.slice(2)
for (const name of chosen.length > 0 ? chosen : Object.keys(BENCHES)) {
  const bench = BENCHES[name]
  if (bench === undefined)
    throw new Error(`There is no bench called ${name}: ${Object.keys(BENCHES).join(', ')}`)
  if (!(await bench())) process.exitCode = 1
}
