/**
 * Three sieges. An attacker does its worst with one address, then with the link of one deposit, then with the key of
 * one store, while 100 honest shoppers with separate addresses accept their offers. Before each siege, as many honest
 * shoppers come without an attacker, for comparison. No honest shopper may be refused, the 95th percentile of their
 * waiting times may at most double, no limit of Steam or budget of the till may be exceeded, and the rows and the bytes
 * of log that a siege adds are limited.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { inventorySchema } from '../contract/widget-api.ts'
import type { Running } from '../e2e/support/process.ts'
import { openDatabase } from '../gateway/db/client.ts'
import { systemClock } from '../gateway/kit/clock.ts'
import { createStore } from '../gateway/stores/service.ts'
import { openVisit } from '../proofs/kill/load.ts'
import {
  BOTS,
  openProcessTill,
  type ProcessTill,
  untilAnswering,
  untilBotsOnline,
} from '../proofs/kill/till.ts'
import { readSpeed } from '../proofs/machine.ts'
import { buildWidgetIfChanged } from '../scripts/build-pages.ts'
import { STATE } from '../steam-sandbox/world/world.ts'
import { withDatabase } from './database.ts'
import { watchCalls } from './fleet-figures.ts'
import { median, type Outcome, percentile95 } from './outcome.ts'
import type { Plan } from './siege-attacker.ts'
import { type Answer, createCaller } from './siege-calls.ts'

/** A lower number makes a quick trial. */
const SHOPPERS = Number(process.env.SIEGE_SHOPPERS ?? 100)
const FURTHER_BOTS = 10
const ARRIVALS_A_SECOND = 5
const POLLS = 6
/** The poll after which a shopper accepts, counted from 0. */
const ACCEPT_AFTER_POLL = 2
const POLL_EVERY_MS = 1_000
/** The pause between two calls for an offer, and the most calls. */
const ASK_AGAIN_MS = 500
const MOST_ASKS = 60
/** The attacker that has a deposit's link picks at random from this many trade links. */
const HOSTILE_LINKS = 10
/** The factor by which a siege may raise the 95th percentile of the waiting times. */
const RATIO_LIMIT = 2
/** The most rows a minute that a siege may add. */
const ROWS_A_MINUTE = 3_000
/** The most bytes of log a minute that a siege may add. A store may make 20 calls a second, and each adds a line. */
const LOG_BYTES_A_MINUTE = 500_000
const KINDS = ['address', 'link', 'store'] as const

type Observed = { times: Map<string, number[]>; refusals: Map<string, number> }
type Wave = Observed & { minutes: number; rows: number; logBytes: number }

export async function benchSiege(): Promise<Outcome> {
  await buildWidgetIfChanged()
  return withDatabase({ fsync: true }, async (serverUrl) => {
    const till = await openProcessTill(serverUrl, 'siege', {
      furtherBots: FURTHER_BOTS,
      quotas: true,
      // Limits and log as in production. By default, a till of the proofs allows more connections and logs less.
      settings: { TRADETILL_MAX_CONNECTIONS_PER_ADDRESS: '200', TRADETILL_LOG_LEVEL: 'info' },
    })
    const gateway = till.start()
    try {
      await untilAnswering(till, gateway)
      await untilBotsOnline(till, 0n)
      return await besiege(till, gateway)
    } catch (error) {
      console.error(gateway.output().slice(-4_000))
      throw error
    } finally {
      await gateway.interrupt()
      await till.close()
    }
  })
}

async function besiege(till: ProcessTill, gateway: Running): Promise<Outcome> {
  const calls = watchCalls(till.steam)
  const beganMs = performance.now()
  const apiKey = await addHostileStore(till)
  await playWave(till, gateway)
  const outcomes: Outcome[] = []
  for (const kind of KINDS) {
    const before = await readSpeed()
    const quiet = await playWave(till, gateway)
    const hash = (await openVisit(till, `hostile-${kind}`, till.steam.invite('quiet_lynx').steamId)) ?? ''
    const tradeUrls = Array.from({ length: HOSTILE_LINKS }, () => till.steam.invite('quiet_lynx').tradeUrl())
    const between = await readSpeed()
    const attacker = startAttacker({ url: till.url, kind, hash, tradeUrls, apiKey })
    const underSiege = await playWave(till, gateway)
    console.log(`siege: ${kind}: the attacker got ${JSON.stringify(await stopAttacker(attacker))}`)
    const speeds = [before, between, await readSpeed()].map(({ speed }) => speed.toFixed(2))
    console.log(
      `siege: ${kind}: speed of the machine before, between and after (1 is the speed of two quiet cores): ${speeds.join(', ')}`,
    )
    outcomes.push(...judge(kind, quiet, underSiege))
  }
  calls.end()
  const minutes = (performance.now() - beganMs) / 60_000
  const exceeded = calls.overBudget({ bots: BOTS.length + FURTHER_BOTS, minutes })
  if (exceeded.length > 0) console.log(`siege: beyond the budget: ${exceeded.join(', ')}`)
  const expectNone = (name: string, count: number): Outcome => ({
    name: `siege-${name}`,
    ours: `${count}`,
    limit: '0',
    passed: count === 0,
  })
  const further = [
    ...outcomes,
    expectNone('steam-limits-hit', calls.limited(new Set())),
    expectNone('steam-over-budget', exceeded.length),
  ]
  const passed = further.every((outcome) => outcome.passed)
  return { name: 'siege', ours: `${KINDS.length} sieges`, limit: 'all', passed, further }
}

function judge(kind: string, quiet: Wave, underSiege: Wave): Outcome[] {
  const timesOf = ({ times }: Wave): number[] => [...times.values()].flat()
  const [undisturbed, besieged] = [percentile95(timesOf(quiet)), percentile95(timesOf(underSiege))]
  let refused = 0
  for (const [when, wave] of [
    ['without the attacker', quiet],
    ['under siege', underSiege],
  ] as const)
    for (const [refusal, count] of wave.refusals) {
      console.log(`siege: ${kind}: refused ${count} times ${when}: ${refusal}`)
      refused += count
    }
  console.log(
    `siege: ${kind}: median ${median(timesOf(underSiege)).toFixed(0)} ms, ${median(timesOf(quiet)).toFixed(0)} ms without an attacker`,
  )
  for (const [path, times] of underSiege.times) {
    const [ours, without] = [percentile95(times), percentile95(quiet.times.get(path) ?? [])]
    console.log(
      `siege: ${kind}: ${path}: p95 ${ours.toFixed(0)} ms, ${without.toFixed(0)} ms without an attacker`,
    )
  }
  const growth = (name: string, amountIn: (wave: Wave) => number, limit: number): Outcome => {
    const perMinute = (wave: Wave) => amountIn(wave) / wave.minutes
    const value = Math.max(0, perMinute(underSiege) - perMinute(quiet))
    const ours = `${Math.round(value)}/min`
    return { name: `siege-${kind}-${name}`, ours, limit: `<=${limit}`, passed: value <= limit }
  }
  return [
    {
      name: `siege-${kind}-p95`,
      ours: `${besieged.toFixed(0)}ms`,
      floor: `${undisturbed.toFixed(0)}ms`,
      ratio: besieged / undisturbed,
      limit: `<=${RATIO_LIMIT}`,
      passed: besieged / undisturbed <= RATIO_LIMIT,
    },
    {
      name: `siege-${kind}-refused`,
      ours: `${refused}`,
      limit: '0',
      passed: refused === 0,
    },
    growth('rows', ({ rows }) => rows, ROWS_A_MINUTE),
    growth('log', ({ logBytes }) => logBytes, LOG_BYTES_A_MINUTE),
  ]
}

async function playWave(till: ProcessTill, gateway: Running): Promise<Wave> {
  const seen: Observed = { times: new Map(), refusals: new Map() }
  const [beganMs, rowsBefore, logBefore] = [performance.now(), await rowsOf(till), gateway.output().length]
  await Promise.all(
    Array.from({ length: SHOPPERS }, async (_, number) => {
      await delay((1_000 / ARRIVALS_A_SECOND) * number)
      await visit(till, number, seen)
    }),
  )
  return {
    ...seen,
    minutes: (performance.now() - beganMs) / 60_000,
    rows: (await rowsOf(till)) - rowsBefore,
    logBytes: gateway.output().length - logBefore,
  }
}

async function visit(till: ProcessTill, number: number, seen: Observed): Promise<void> {
  const guest = till.steam.invite('quiet_lynx')
  const hash = await openVisit(till, `honest-${guest.steamId}`, guest.steamId)
  const caller = createCaller(till.url, `127.0.1.${number + 1}`)
  const countRefusal = (refusal: string) => seen.refusals.set(refusal, (seen.refusals.get(refusal) ?? 0) + 1)
  const call = async (path: string, body?: object): Promise<Answer> => {
    const answer = await caller.call(path, body === undefined ? {} : { body })
    const [called = ''] = path.replace(hash ?? '', '').split('?')
    seen.times.set(called, [...(seen.times.get(called) ?? []), answer.tookMs])
    if (answer.status >= 400) countRefusal(`${called} ${answer.status} ${answer.text}`)
    return answer
  }
  try {
    await call(`/deposit/${hash}`)
    await call(`/api/payment?hash=${hash}`)
    await call('/api/trade-url', { hash, tradeUrl: guest.tradeUrl() })
    const shown = await call(`/api/inventory?hash=${hash}&game=cs`)
    if (shown.status !== 200) return
    const { items, quoteId } = inventorySchema.parse(JSON.parse(shown.text))
    const [dearest] = items.toSorted((a, b) => b.price - a.price)
    const request = { hash, game: 'cs', items: [dearest?.id], quoteId }
    for (let asks = 0; asks < MOST_ASKS && (await call('/api/trade', request)).status === 202; asks += 1)
      await delay(ASK_AGAIN_MS)
    for (let polls = 0; polls < POLLS; polls += 1) {
      await call(`/api/payment?hash=${hash}`)
      if (polls === ACCEPT_AFTER_POLL) accept(guest)
      await delay(POLL_EVERY_MS)
    }
  } catch (error) {
    countRefusal(String(error))
  } finally {
    caller.end()
  }
}

function accept(guest: ReturnType<ProcessTill['steam']['invite']>): void {
  const offer = guest.received().find(({ state }) => state === STATE.active)
  if (offer === undefined) throw new Error('no offer is open')
  guest.accept(offer.id)
}

/** Resolves to the API key of the new store. */
async function addHostileStore({ pool, box }: ProcessTill): Promise<string> {
  const { db, close } = openDatabase(String(pool.options.connectionString), 1)
  try {
    const store = await createStore(
      { db, box, mode: 'sandbox', webhookMode: 'sandbox', clock: systemClock },
      { name: 'Hostile', origins: ['http://localhost'], riskLimitUsdCents: 0n },
    )
    if (store.kind === 'refused') throw new Error(store.reason)
    return store.apiKey
  } finally {
    await close()
  }
}

/** Resolves to the number of rows inserted since the database was created. */
async function rowsOf({ pool }: ProcessTill): Promise<number> {
  const { rows } = await pool.query<{ n: string }>('select sum(n_tup_ins) as n from pg_stat_user_tables')
  return Number(rows[0]?.n)
}

const startAttacker = (plan: Plan): ChildProcess =>
  fork(join(import.meta.dirname, 'siege-attacker.ts'), [JSON.stringify(plan)])

async function stopAttacker(attacker: ChildProcess): Promise<Record<string, number>> {
  if (!attacker.connected) throw new Error('the attacker ended early')
  const death = once(attacker, 'exit').then(() => Promise.reject(new Error('the attacker ended early')))
  const report = once(attacker, 'message')
  // Ignores a failure to send: the attacker's exit then ends the wait below.
  attacker.send('end', () => {})
  const [statuses] = await Promise.race([report, death])
  return z.record(z.string(), z.number()).parse(statuses)
}
