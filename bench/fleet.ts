/**
 * A fleet on bad days: 20 bots in two gateways and 200 shoppers at once, or 50 bots and 500 shoppers on a large
 * machine. Each bot has a history of 1,000 trades a day for nine days, and Steam limits requests. In the second wave,
 * one bot after another meets a misfortune (barred, full, logged out, or limited with 429) while shoppers keep coming.
 * No shopper may be refused while a bot can trade, everyone who accepts must be credited, and only bots with a
 * misfortune may hit a limit of Steam. The till follows the sandbox's clock, which runs as fast as the machine's. The
 * time limits are for a quiet machine, and are stretched if this machine was slower in the same run.
 */
import { availableParallelism, totalmem } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { eventually, type Running } from '../e2e/support/process.ts'
import {
  enrolAgain,
  openProcessTill,
  type ProcessTill,
  untilAnswering,
  untilBotsOnline,
} from '../proofs/kill/till.ts'
import { type MachineSpeed, meanOf, readSpeed, stretchLimit } from '../proofs/machine.ts'
import { withDatabase } from './database.ts'
import { memoryOf, watchCalls } from './fleet-figures.ts'
import { type Credits, playWave, type Visit, watchCredits } from './fleet-shoppers.ts'
import { type Outcome, percentile95 } from './outcome.ts'

/** The machine that the larger fleet needs, because shoppers, sandbox, PostgreSQL and gateways share it. */
const LARGE_FROM = { processors: 8, memoryGb: 16 }
const SIZES = { normal: { bots: 20, shoppers: 200 }, large: { bots: 50, shoppers: 500 } }
const PROCESSORS = availableParallelism()
const MEMORY_GB = Math.round(totalmem() / 2 ** 30)
const IS_LARGE = PROCESSORS >= LARGE_FROM.processors && MEMORY_GB >= LARGE_FROM.memoryGb
const { bots: BOTS, shoppers: SHOPPERS } = IS_LARGE ? SIZES.large : SIZES.normal
const GATEWAYS = 2
const SANDBOX_BOTS = 2
const WAVES = 3
/** The share of bots that meet a misfortune in the second wave, and the time from one misfortune to the next. */
const STRUCK_SHARE = 0.6
const STRIKE_EVERY_MS = 500
/**
 * The most seconds from acceptance to credit (95th percentile), for shoppers who stay away from the page, and for those
 * who return.
 */
const UNSEEN_LIMIT_S = 8
const RETURNED_LIMIT_S = 2
/** The factor by which the gateways' memory may grow from the second wave to the last. */
const MEMORY_LIMIT = 1.3
/** How long a shopper waits for the items, and then for the offer. */
const PATIENCE_S = 60
const CREDITED_WITHIN_MS = 300_000
/** How long it may take to spread the bots: a gateway gives them up one at a time. */
const ONLINE_MS = 300_000

/** Misfortunes of a bot. During the first two, the bot can still read accepted offers; during the others, it cannot. */
const MISFORTUNES = ['send-new-device', 'send-inventory-full', 'logged-out', 'rate-limited'] as const
type Misfortune = (typeof MISFORTUNES)[number]

export function benchFleet(): Promise<Outcome> {
  return withDatabase({ fsync: true }, async (serverUrl) => {
    const till = await openProcessTill(serverUrl, 'bench', {
      furtherBots: BOTS - SANDBOX_BOTS,
      gateways: GATEWAYS,
      quotas: true,
    })
    // Adds 1,000 offers and trades a day, which every list and history must skip.
    for (const steamId of botsOf(till)) till.steam.begin('busy-for-nine-days', { steamId })
    const gateways = till.urls.map((_, index) => till.start(index))
    const credits = watchCredits(till)
    try {
      await Promise.all(
        gateways.map((gateway, index) => untilAnswering({ url: till.urls[index] ?? '' }, gateway)),
      )
      await eventually('the bots are spread', () => areSpreadEvenly(till), ONLINE_MS)
      await untilBotsOnline(till, 0n)
      console.log(
        `fleet: ${PROCESSORS} processors and ${MEMORY_GB} GB on this machine; ${SIZES.large.bots} bots and ${SIZES.large.shoppers} shoppers need ${LARGE_FROM.processors} and ${LARGE_FROM.memoryGb} GB`,
      )
      console.log(`fleet: ${BOTS} bots in ${GATEWAYS} gateways, ${SHOPPERS} shoppers a wave, ${WAVES} waves`)
      return await measure(till, gateways, credits)
    } catch (error) {
      for (const gateway of gateways) console.error(gateway.output().slice(-4_000))
      throw error
    } finally {
      await credits.end()
      await Promise.all(gateways.map((gateway) => gateway.interrupt()))
      await till.close()
    }
  })
}

async function measure(till: ProcessTill, gateways: Running[], credits: Credits): Promise<Outcome> {
  const calls = watchCalls(till.steam)
  const struck = new Map<string, Misfortune>()
  const visits: Visit[] = []
  const memory: number[] = []
  const machines: MachineSpeed[] = [await readSpeed()]
  const beganMs = performance.now()
  for (let number = 1; number <= WAVES; number += 1) {
    const strikes = number === 2 ? strike(till, struck) : undefined
    const patienceMs = stretchLimit(PATIENCE_S, meanOf(machines).speed) * 1_000
    const visited = await playWave(till, { shoppers: SHOPPERS, patienceMs })
    await strikes
    if (number === 2) await heal(till, struck)
    await credits.waitForAll(visited, CREDITED_WITHIN_MS)
    machines.push(await readSpeed())
    visits.push(...visited)
    memory.push(await memoryOf(gateways.map(({ pid }) => pid)))
    console.log(
      `fleet: wave ${number}: ${describe(visited, struck)}, ${memory.at(-1)} MiB in ${GATEWAYS} gateways`,
    )
  }
  calls.end()
  const minutes = (performance.now() - beganMs) / 60_000
  const over = { bots: BOTS, minutes }
  for (const line of calls.lines(over)) console.log(`fleet: ${line}`)
  const overBudget = calls.overBudget(over)
  if (overBudget.length > 0) console.log(`fleet: beyond the budget: ${overBudget.join(', ')}`)
  const limited = calls.limited(new Set(struck.keys()))
  const { speed } = meanOf(machines)
  console.log(`fleet: the machine had ${Math.round(speed * 100)}% of a quiet one's speed`)
  return judge({ visits, struck, memory, limited, overBudget: overBudget.length, speed })
}

const botsOf = ({ steam }: ProcessTill): string[] =>
  steam.world().accounts.flatMap(({ kind, steamId }) => (kind === 'bot' ? [steamId] : []))

async function strike(till: ProcessTill, struck: Map<string, Misfortune>): Promise<void> {
  const { steam } = till
  for (const [turn, steamId] of botsOf(till)
    .slice(0, Math.floor(BOTS * STRUCK_SHARE))
    .entries()) {
    await delay(STRIKE_EVERY_MS)
    const misfortune = MISFORTUNES[turn % MISFORTUNES.length] ?? 'send-new-device'
    struck.set(steamId, misfortune)
    if (misfortune === 'logged-out') await postControl(steam.url, `sessions/${steamId}/revoke`)
    else steam.begin(misfortune, { steamId })
  }
}

/** Ends the misfortunes. Logged-out bots are enrolled again, as an operator would. */
async function heal(till: ProcessTill, struck: ReadonlyMap<string, Misfortune>): Promise<void> {
  for (const [steamId, misfortune] of struck) {
    if (misfortune === 'logged-out') await enrolAgain(till, steamId)
    else till.steam.end(misfortune, steamId)
  }
}

async function postControl(url: string, path: string): Promise<void> {
  const answer = await fetch(`${url}/control/${path}`, {
    method: 'POST',
    signal: AbortSignal.timeout(10_000),
  })
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`)
}

async function areSpreadEvenly({ pool }: ProcessTill): Promise<true | undefined> {
  const { rows } = await pool.query<{ bots: string }>(
    'select count(*) as bots from bot where lease_owner is not null group by lease_owner',
  )
  const share = Math.ceil(BOTS / GATEWAYS)
  const held = rows.map(({ bots }) => Number(bots))
  return (held.length === GATEWAYS && held.every((bots) => bots <= share)) || undefined
}

type Measured = {
  visits: Visit[]
  struck: ReadonlyMap<string, Misfortune>
  memory: number[]
  limited: number
  overBudget: number
  speed: number
}

function judge({ visits, struck, memory, limited, overBudget, speed }: Measured): Outcome {
  const readable = visits.filter((visit) => !isBlind(visit, struck))
  const refused = visits.filter(({ refusal }) => refusal !== undefined)
  const uncredited = visits.filter(({ acceptedMs, creditedMs }) => acceptedMs !== undefined && !creditedMs)
  // The first two waves load code and fill caches, so the growth is measured from the end of the second.
  const growth = (memory.at(-1) ?? Number.NaN) / (memory[1] ?? Number.NaN)
  const line = (name: string, returns: boolean, quietS: number): Outcome => {
    const limitS = stretchLimit(quietS, speed)
    const p95S = percentile95(secondsOf(readable.filter((visit) => visit.returns === returns)))
    return {
      name,
      ours: `${p95S.toFixed(2)}s`,
      limit: `<=${limitS.toFixed(1)}s`,
      passed: p95S <= limitS,
    }
  }
  const count = (name: string, value: number): Outcome => ({
    name,
    ours: String(value),
    limit: '0',
    passed: value === 0,
  })
  const further = [
    line('fleet-unseen-p95', false, UNSEEN_LIMIT_S),
    line('fleet-returned-p95', true, RETURNED_LIMIT_S),
    count('fleet-uncredited', uncredited.length),
    count('fleet-limits-hit', limited),
    count('fleet-over-budget', overBudget),
    {
      name: 'fleet-memory',
      ours: growth.toFixed(2),
      limit: `<=${MEMORY_LIMIT}`,
      passed: growth <= MEMORY_LIMIT,
    },
  ]
  return {
    name: 'fleet',
    ours: `${visits.length - refused.length}/${visits.length}`,
    limit: 'all',
    passed: refused.length === 0 && further.every(({ passed }) => passed),
    further,
  }
}

/**
 * True if the misfortune of the visit's bot prevents reads of Steam, so the till learns of acceptances only when the
 * misfortune is over. Applies to the bot's visits in all waves.
 */
function isBlind({ bot }: Visit, struck: ReadonlyMap<string, Misfortune>): boolean {
  const misfortune = struck.get(bot ?? '')
  return misfortune === 'logged-out' || misfortune === 'rate-limited'
}

function describe(visits: readonly Visit[], struck: ReadonlyMap<string, Misfortune>): string {
  const readable = visits.filter((visit) => !isBlind(visit, struck))
  const p95 = (returns: boolean): string =>
    percentile95(secondsOf(readable.filter((visit) => visit.returns === returns))).toFixed(2)
  const refusals = visits.flatMap(({ refusal }) => refusal ?? [])
  const reasons = [...new Set(refusals)].map(
    (each) => `, ${refusals.filter((other) => other === each).length} ${each}`,
  )
  const offerWithin = percentile95(visits.map(({ offerTookS }) => offerTookS)).toFixed(2)
  return `${refusals.length} of ${visits.length} refused${reasons.join('')}, offer within ${offerWithin} s, credited within ${p95(false)} s, ${p95(true)} s after a return (p95)`
}

function secondsOf(visits: readonly Visit[]): number[] {
  return visits.flatMap(({ acceptedMs, creditedMs }) =>
    acceptedMs === undefined || creditedMs === undefined ? [] : [(creditedMs - acceptedMs) / 1_000],
  )
}
