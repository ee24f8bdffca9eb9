/**
 * Measures a poll that finds nothing new: its CPU time in the gateway, compared with that of a bare server that
 * answers 304, and its queries.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { z } from 'zod'
import { freePorts } from '../e2e/support/process.ts'
import { withDatabase } from './database.ts'
import { median, type Outcome } from './outcome.ts'

/** The most CPU time that a poll may take, as a multiple of what an answer of the bare server takes. */
const LIMIT = 1.3
const ROUNDS = 21
/** The numbers of polls: in a round, before the first round, and while queries are counted. */
const POLLS = 4_000
const WARM_UP = 6_000
const COUNTED = 24_000
const CONNECTIONS = 20
/**
 * The most queries per poll, counted as transactions. More than 0, because the number of the till's own transactions
 * varies.
 */
const MOST_QUERIES = 0.005

type Server = { url: string; cpuUs(): Promise<number>; stop(): void }
type Target = { server: Server; path: string; etag: string }

export async function benchPoll(): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-poll-'))
  try {
    return await withDatabase({ fsync: false }, (url) => poll(url, folder))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function poll(databaseUrl: string, folder: string): Promise<Outcome> {
  const [port = 0] = await freePorts(1)
  const ours = await startServer('ours', {
    DATABASE_URL: databaseUrl,
    TRADETILL_DATA: folder,
    TRADETILL_PORT: String(port),
    TRADETILL_PUBLIC_URL: `http://127.0.0.1:${port}`,
    TRADETILL_LOG_LEVEL: 'error',
  })
  const floor = await startServer('floor', {})
  const database = new pg.Client({ connectionString: databaseUrl })
  await database.connect()
  try {
    const path = `/api/payment?hash=${await createDeposit(database)}`
    const etag = (await fetch(`${ours.url}${path}`)).headers.get('etag') ?? ''
    const targets = { ours: { server: ours, path, etag }, floor: { server: floor, path, etag } }
    const queries = await queriesPerPoll(database, targets.ours)
    return judge(await measureAlternately(targets), queries)
  } finally {
    await database.end()
    ours.stop()
    floor.stop()
  }
}

type Costs = { ours: number[]; floor: number[] }

/** Measures both servers alternately. Subtracts what the gateway costs in the same time without polls. */
async function measureAlternately({ ours, floor }: { ours: Target; floor: Target }): Promise<Costs> {
  await sendPolls(ours, WARM_UP)
  await sendPolls(floor, WARM_UP)
  const costs: Costs = { ours: [], floor: [] }
  for (let round = 0; round < ROUNDS; round += 1) {
    const busy = await costOf(ours.server, () => sendPolls(ours, POLLS))
    const idle = await costOf(ours.server, () => delay(busy.tookMs))
    costs.ours.push((busy.cpuUs - idle.cpuUs) / POLLS)
    costs.floor.push((await costOf(floor.server, () => sendPolls(floor, POLLS))).cpuUs / POLLS)
  }
  return costs
}

/** Each round has its own ratio, because a busy moment of the machine affects both servers of a round. */
function judge({ ours, floor }: Costs, queries: number): Outcome {
  const ratio = median(ours.map((us, round) => us / (floor[round] ?? Number.NaN)))
  console.log(`poll: ${queries.toFixed(5)} queries a poll (limit: ${MOST_QUERIES})`)
  return {
    name: 'poll',
    ours: `${median(ours).toFixed(1)}us`,
    floor: `${median(floor).toFixed(1)}us`,
    ratio,
    limit: `<=${LIMIT}`,
    passed: ratio <= LIMIT && queries <= MOST_QUERIES,
  }
}

async function startServer(kind: 'ours' | 'floor', env: Record<string, string>): Promise<Server> {
  const child = fork(join(import.meta.dirname, 'poll-server.ts'), [kind], { env: { ...process.env, ...env } })
  const { url } = z.object({ url: z.string() }).parse(await answerOf(child))
  return {
    url,
    async cpuUs() {
      child.send('cpu')
      return z.object({ cpuUs: z.number() }).parse(await answerOf(child)).cpuUs
    },
    stop: () => child.disconnect(),
  }
}

async function answerOf(child: ChildProcess): Promise<unknown> {
  const answered = new AbortController()
  const { signal } = answered
  const died = once(child, 'exit', { signal }).then(() => {
    throw new Error('the server ended')
  })
  // Prevents an unhandled rejection when the answer comes first.
  died.catch(() => {})
  const [message] = await Promise.race([once(child, 'message', { signal }), died])
  answered.abort()
  return message
}

async function costOf(server: Server, work: () => Promise<unknown>) {
  const [cpuUsBefore, beganMs] = [await server.cpuUs(), performance.now()]
  await work()
  const tookMs = performance.now() - beganMs
  return { cpuUs: (await server.cpuUs()) - cpuUsBefore, tookMs }
}

/** Sends `count` polls over persistent connections. Throws if a poll is not answered with 304. */
async function sendPolls({ server, path, etag }: Target, count: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const { hostname, port } = new URL(server.url)
  const options = { agent, hostname, port, path, headers: { 'if-none-match': etag } }
  const sendOne = () =>
    new Promise<void>((resolve, reject) => {
      request(options, (answer) => {
        answer.resume()
        if (answer.statusCode !== 304) reject(new Error(`a poll got ${answer.statusCode}`))
        answer.once('end', resolve)
      })
        .once('error', reject)
        .end()
    })
  let left = count
  const poller = async () => {
    while (left > 0) {
      left -= 1
      await sendOne()
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, poller))
  agent.destroy()
}

/** Returns the transactions per poll: those during many polls, minus those in an equally long time after one poll. */
async function queriesPerPoll(database: pg.Client, target: Target): Promise<number> {
  const transactionsDuring = async (work: () => Promise<unknown>): Promise<number> => {
    const transactionsBefore = await countTransactions(database)
    await work()
    return (await countTransactions(database)) - transactionsBefore
  }
  await sendPolls(target, 1_000)
  const beganMs = performance.now()
  const busy = await transactionsDuring(() => sendPolls(target, COUNTED))
  const tookMs = performance.now() - beganMs
  const quiet = await transactionsDuring(async () => {
    // As during many polls, the gateway must refresh its answer for this deposit all the time.
    await sendPolls(target, 1)
    await delay(tookMs)
  })
  return Math.max(0, busy - quiet) / COUNTED
}

async function countTransactions(database: pg.Client): Promise<number> {
  const { rows } = await database.query<{ n: string }>(
    `select sum(xact_commit + xact_rollback) as n from pg_stat_database where datname = current_database()`,
  )
  return Number(rows[0]?.n)
}

/** Resolves to the hash of a deposit that waits for its shopper. */
async function createDeposit(database: pg.Client): Promise<string> {
  const hash = randomBytes(16).toString('hex')
  await database.query(`
    with made as (insert into store (name, origins) values ('Ember Forge', '{http://localhost}') returning id)
    insert into deposit (hash, store_id, external_id, request_sha256, currency, back_to_store_url, expires_at)
    select '${hash}', id, 'poll', '\\x00', 'USD', 'http://localhost/', now() + interval '1 hour' from made`)
  return hash
}
