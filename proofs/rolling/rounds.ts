/** Replaces gateways behind a balancer one after the other while shoppers pay. */
import { setTimeout as delay } from 'node:timers/promises'
import { eventually, type Running, run } from '../../e2e/support/process.ts'
import { booksOf, checkTill, unsettledWork } from '../kill/check.ts'
import { startLoad } from '../kill/load.ts'
import { type KillTill, openKillTill, passHour, untilBotsOnline } from '../kill/till.ts'
import { seededRandom } from '../random.ts'
import { type Balancer, startBalancer } from './balancer.ts'
import type { Sources } from './sources.ts'

export type Rolled = {
  gateways: number
  calls: number
  deliveries: number
  webhooks: number
  /** The longest time, in milliseconds, that a bot had no holder. */
  unheldMs: number
  problems: string[]
}

type Plan = {
  gateways: number
  seed: number
  /**
   * The sources of the first gateways, whose database has only their migrations. Gateways of this tree replace them.
   */
  from: Sources
}

/** The gateway of this tree. */
const OURS = 'gateway/main.ts'
const LEAST_DELIVERIES = 3
const MOST_UNHELD_MS = 30_000
const WAIT_MS = 240_000
const LOOK_MS = 250

export async function rollingRound(serverUrl: string, { gateways, seed, from }: Plan): Promise<Rolled> {
  const till = await openKillTill(serverUrl, `rolling-${seed}`, { gateways, migrations: from.migrations })
  const balancer = await startBalancer(till.urls)
  const running = new Map<number, Running>()
  const start = async (which: number, source: string) => {
    const { port } = new URL(till.urls[which] ?? '')
    const env = { ...till.env, TRADETILL_PORT: port, TRADETILL_PUBLIC_URL: balancer.url }
    const gateway = run(source, env, { isTied: true })
    running.set(which, gateway)
    await untilReady(till.urls[which] ?? '', gateway)
  }
  const holding = watchBots(till)
  try {
    for (let which = 0; which < gateways; which += 1) await start(which, from.main)
    await untilBotsOnline(till, 0n)
    holding.begin()
    const load = startLoad({ ...till, url: balancer.url }, seededRandom(seed))
    try {
      await untilDelivered(till, LEAST_DELIVERIES)
      for (let which = 0; which < gateways; which += 1) {
        await running.get(which)?.interrupt()
        await start(which, OURS)
        await untilDelivered(till, (await booksOf(till)).deliveries + 1)
      }
      await load.leave()
      await settle(till)
    } finally {
      await load.end()
    }
    return await judge(till, { balancer, orders: load.orders, gateways, unheldMs: holding.longest() })
  } finally {
    await holding.end()
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
  const found = await eventually('the gateway is ready', check, WAIT_MS)
  if (found === 'ended') throw new Error(`the gateway ended:\n${gateway.output()}`)
}

function watchBots({ pool }: KillTill) {
  const ending = new AbortController()
  const since = new Map<string, number>()
  let longest = 0
  let isOn = false
  const looking = (async () => {
    while (!ending.signal.aborted) {
      const { rows } = await pool.query<{ id: string; held: boolean }>(
        'select id, coalesce(lease_until > now(), false) as held from bot',
      )
      const now = performance.now()
      for (const { id, held } of rows) {
        const from = since.get(id) ?? now
        if (isOn) longest = Math.max(longest, now - from)
        since.set(id, held || !isOn ? now : from)
      }
      await delay(LOOK_MS)
    }
  })()
  return {
    begin: () => {
      isOn = true
    },
    longest: () => Math.round(longest),
    async end() {
      ending.abort()
      await looking
    },
  }
}

const untilDelivered = (till: KillTill, least: number) =>
  eventually(
    `${least} deliveries`,
    async () => (await booksOf(till)).deliveries >= least || undefined,
    WAIT_MS,
  )

const settle = (till: KillTill) =>
  eventually(
    'all work is done',
    async () => {
      await passHour(till)
      return (await unsettledWork(till)).length === 0 || undefined
    },
    WAIT_MS,
  )

type Ended = { balancer: Balancer; orders: readonly string[]; gateways: number; unheldMs: number }

async function judge(till: KillTill, { balancer, orders, gateways, unheldMs }: Ended): Promise<Rolled> {
  const problems = await checkTill(till, orders)
  problems.push(...balancer.failures.map((line) => `a call failed: ${line}`))
  if (unheldMs > MOST_UNHELD_MS) problems.push(`a bot had no holder for ${unheldMs} ms`)
  const { deliveries, webhooks } = await booksOf(till)
  return { gateways, calls: balancer.calls(), deliveries, webhooks, unheldMs, problems }
}
