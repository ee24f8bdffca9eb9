/** Replaces gateways behind a balancer one after the other while shoppers pay. */
import { setTimeout as delay } from 'node:timers/promises'
import { eventually, type Running, run } from '../../e2e/support/process.ts'
import { checkTill, countWork, unsettledWork } from '../kill/check.ts'
import { startLoad } from '../kill/load.ts'
import { openProcessTill, type ProcessTill, passHour, untilBotsOnline } from '../kill/till.ts'
import { seededRandom } from '../random.ts'
import { type Balancer, startBalancer } from './balancer.ts'
import type { Sources } from './sources.ts'

export type Rolled = {
  gateways: number
  calls: number
  deliveries: number
  webhooks: number
  /** The longest time, in milliseconds, that no process held a bot's lease. */
  unheldMs: number
  problems: string[]
}

type Plan = {
  gateways: number
  seed: number
  /**
   * The sources of the first gateways, which gateways of this tree then replace. At first, the database has only their
   * migrations.
   */
  from: Sources
}

const OWN_GATEWAY = 'gateway/main.ts'
/** How many deliveries to wait for before the first gateway is replaced. */
const LEAST_DELIVERIES = 3
/** The longest time that a bot may be without a lease. */
const MOST_UNHELD_MS = 30_000
const WAIT_MS = 240_000
const LEASE_POLL_MS = 250

export async function rollingRound(serverUrl: string, { gateways, seed, from }: Plan): Promise<Rolled> {
  const till = await openProcessTill(serverUrl, `rolling-${seed}`, { gateways, migrations: from.migrations })
  const balancer = await startBalancer(till.urls)
  const running = new Map<number, Running>()
  const start = async (index: number, source: string) => {
    const { port } = new URL(till.urls[index] ?? '')
    const env = { ...till.env, TRADETILL_PORT: port, TRADETILL_PUBLIC_URL: balancer.url }
    const gateway = run(source, env, { isTied: true })
    running.set(index, gateway)
    await untilReady(till.urls[index] ?? '', gateway)
  }
  const leaseWatch = watchBots(till)
  try {
    for (let index = 0; index < gateways; index += 1) await start(index, from.main)
    await untilBotsOnline(till)
    leaseWatch.begin()
    const load = startLoad({ ...till, url: balancer.url }, seededRandom(seed))
    try {
      await untilDelivered(till, LEAST_DELIVERIES)
      for (let index = 0; index < gateways; index += 1) {
        await running.get(index)?.interrupt()
        await start(index, OWN_GATEWAY)
        await untilDelivered(till, (await countWork(till)).deliveries + 1)
      }
      await load.stopVisits()
      await settle(till)
    } finally {
      await load.end()
    }
    return await resultOf(till, {
      balancer,
      confirmedIds: load.confirmedIds,
      gateways,
      unheldMs: leaseWatch.longest(),
    })
  } finally {
    await leaseWatch.end()
    for (const gateway of running.values()) await gateway.interrupt()
    await balancer.close()
    await till.close()
  }
}

/** Waits until the gateway is ready. Throws with its output as soon as it ends. */
export async function untilReady(url: string, gateway: Pick<Running, 'hasEnded' | 'output'>): Promise<void> {
  const check = async () => {
    if (gateway.hasEnded()) return 'ended'
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) })
    return answer.ok ? 'ready' : undefined
  }
  const state = await eventually('the gateway is ready', check, WAIT_MS)
  if (state === 'ended') throw new Error(`the gateway ended:\n${gateway.output()}`)
}

/** Measures, from `begin` on, how long bots are without a lease. */
function watchBots({ pool }: ProcessTill) {
  const ending = new AbortController()
  const unheldSinceMs = new Map<string, number>()
  let longestMs = 0
  let isMeasuring = false
  const watching = (async () => {
    while (!ending.signal.aborted) {
      const { rows } = await pool.query<{ id: string; leased: boolean }>(
        'select id, coalesce(lease_until > now(), false) as leased from bot',
      )
      const nowMs = performance.now()
      for (const { id, leased } of rows) {
        const sinceMs = unheldSinceMs.get(id) ?? nowMs
        if (isMeasuring) longestMs = Math.max(longestMs, nowMs - sinceMs)
        unheldSinceMs.set(id, leased || !isMeasuring ? nowMs : sinceMs)
      }
      await delay(LEASE_POLL_MS)
    }
  })()
  return {
    begin: () => {
      isMeasuring = true
    },
    longest: () => Math.round(longestMs),
    async end() {
      ending.abort()
      await watching
    },
  }
}

const untilDelivered = (till: ProcessTill, least: number) =>
  eventually(
    `${least} deliveries`,
    async () => (await countWork(till)).deliveries >= least || undefined,
    WAIT_MS,
  )

const settle = (till: ProcessTill) =>
  eventually(
    'all work is done',
    async () => {
      await passHour(till)
      return (await unsettledWork(till)).length === 0 || undefined
    },
    WAIT_MS,
  )

type Ended = { balancer: Balancer; confirmedIds: readonly string[]; gateways: number; unheldMs: number }

async function resultOf(
  till: ProcessTill,
  { balancer, confirmedIds, gateways, unheldMs }: Ended,
): Promise<Rolled> {
  const problems = await checkTill(till, confirmedIds)
  problems.push(...balancer.failures.map((line) => `a call failed: ${line}`))
  if (unheldMs > MOST_UNHELD_MS) problems.push(`a bot had no lease for ${unheldMs} ms`)
  const { deliveries, webhooks } = await countWork(till)
  return { gateways, calls: balancer.calls(), deliveries, webhooks, unheldMs, problems }
}
