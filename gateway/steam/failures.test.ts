/** Random bad days of the sandbox against the port: whatever Steam does, every call comes back with an answer. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { startSteam } from '../../steam-sandbox/start.ts'
import { fakeClock } from '../testing/clock.ts'
import { createSandboxAgent } from './agent.ts'
import type { Partner, Steam, SteamSession } from './steam.ts'
import { createWebSteam } from './web.ts'

const SCRIPTS = 1_000
const LANES = 8
const DEADLINE_MS = 200
/** A script whose session does not open tells little. */
const LOGIN_MS = 1_000
/** So long that only what hangs on purpose is late, whatever else the machine does. */
const GENEROUS_MS = 2_500
/** What a call may be late beside what the event loop was meanwhile. */
const TOLERANCE_MS = 300
/** A loop that was late by so much may have let an answer come after its deadline. */
const DISTURBED_MS = 30
const TICK_MS = 10
const NOW = new Date('2026-03-02T12:00:00Z')

type Sandbox = Awaited<ReturnType<typeof startSteam>>
type Random = (below: number) => number

/** Mulberry32. */
function randomOf(seed: number): Random {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

function pick<T>(list: readonly T[], random: Random): T {
  const found = list[random(list.length)]
  if (found === undefined) throw new Error('nothing to pick from')
  return found
}

type Stage = { sandbox: Sandbox; behaviours: string[]; shopper: string; bot: string }

async function openStage(): Promise<Stage> {
  const sandbox = await startSteam({ port: 0, clock: () => NOW.getTime() })
  const read = async (path: string): Promise<unknown> =>
    (await fetch(`${sandbox.url}/control/${path}`)).json()
  const named = z.array(z.object({ name: z.string() }))
  const behaviours = named.parse(await read('behaviours')).map(({ name }) => name)
  const [player] = named.parse(await read('players'))
  const [bot] = named.parse(await read('bots'))
  return { sandbox, behaviours, shopper: player?.name ?? '', bot: bot?.name ?? '' }
}

async function misbehave({ sandbox, behaviours }: Stage, random: Random): Promise<string> {
  const name = pick(behaviours, random)
  const times = 1 + random(4)
  const answer = await fetch(`${sandbox.url}/control/behaviours/${name}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ times }),
  })
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`)
  await answer.arrayBuffer()
  return `(${name} ${times})`
}

type Seen = { assetId: string; offerId: string; tradeId: string }
type Call = (port: { steam: Steam; session: SteamSession; partner: Partner; seen: Seen }) => Promise<{
  kind: string
  reason?: string
}>

const CALLS: Record<string, Call> = {
  checkPartner: ({ session, partner }) => session.checkPartner(partner),
  readInventory: ({ session, partner }) => session.readInventory(partner, 'cs', 'en'),
  async sendOffer({ session, partner, seen }) {
    const assets = [{ appId: 730, contextId: '2', assetId: seen.assetId }]
    const answer = await session.sendOffer(partner, assets, 'K7M2QX')
    if (answer.kind === 'sent') seen.offerId = answer.offerId
    return answer
  },
  async readOffer({ session, seen }) {
    const answer = await session.readOffer(seen.offerId)
    if (answer.kind === 'offer') seen.tradeId = answer.offer.tradeId ?? seen.tradeId
    return answer
  },
  listSentOffers: ({ session }) => session.listSentOffers(new Date(NOW.getTime() - 60_000)),
  cancelOffer: ({ session, seen }) => session.cancelOffer(seen.offerId),
  declineOffer: ({ session, seen }) => session.declineOffer(seen.offerId),
  readTradeStatus: ({ session, seen }) => session.readTradeStatus(seen.tradeId),
  listTrades: ({ session }) => session.listTrades(new Date(NOW.getTime() - 60_000)),
  acknowledgeProtection: ({ session }) => session.acknowledgeProtection(),
  readProfile: ({ steam, partner }) => steam.readProfile(partner.steamId),
}
const METHODS = Object.keys(CALLS)
/** How late the event loop has been so far, in all: the sandbox and the port share it, so it is what a busy machine costs. */
const loop = { lateMs: 0, tickedAtMs: 0 }
let ticking: NodeJS.Timeout

function loopLateMs(): number {
  return loop.lateMs + Math.max(0, performance.now() - loop.tickedAtMs - TICK_MS)
}

beforeAll(() => {
  loop.tickedAtMs = performance.now()
  ticking = setInterval(() => {
    loop.lateMs = loopLateMs()
    loop.tickedAtMs = performance.now()
  }, TICK_MS)
})

/** How far a call went beyond its deadline, by more than the event loop was late meanwhile. */
const latest = { ms: 0, what: '' }

/** A call's outcome, or what was done to Steam, and how late the event loop was meanwhile. */
type Step = { said: string; loopLateMs: number }

async function timed<T extends { kind: string; reason?: string }>(
  { what, limitMs, trace }: { what: string; limitMs: number; trace: Step[] },
  work: Promise<T>,
): Promise<T> {
  const start = performance.now()
  const lateBefore = loopLateMs()
  const answer = await work
  const lateMs = loopLateMs() - lateBefore
  const ms = performance.now() - start - limitMs - lateMs
  if (ms > latest.ms) Object.assign(latest, { ms, what })
  trace.push({ said: outcome(what, answer), loopLateMs: lateMs })
  return answer
}

/** Plays one script; resolves to what was called and what came of it. */
async function play(stage: Stage, seed: number, deadlineMs: number): Promise<Step[]> {
  const random = randomOf(seed)
  const { sandbox } = stage
  sandbox.reset()
  const shopper = sandbox.as(stage.shopper)
  const partner = {
    steamId: shopper.steamId,
    token: new URL(shopper.tradeUrl()).searchParams.get('token') ?? '',
  }
  const assetId = shopper.tradable(730)[0]?.assetId ?? ''
  const loginMs = Math.max(deadlineMs, LOGIN_MS)
  const limits = { login: loginMs, send: deadlineMs, inventory: deadlineMs, other: deadlineMs }
  const steam = createWebSteam({
    redirect: createSandboxAgent('sandbox', sandbox.url),
    deadlines: limits,
    clock: fakeClock(NOW),
  })
  const trace: Step[] = []
  const done = (said: string) => trace.push({ said, loopLateMs: 0 })
  if (random(4) === 0) done(await misbehave(stage, random))
  const opened = await timed(
    { what: 'openSession', limitMs: loginMs, trace },
    steam.openSession(sandbox.as(stage.bot).refreshToken()),
  )
  if (opened.kind !== 'open') return trace
  const seen = { assetId, offerId: '1', tradeId: '1' }
  for (let step = 2 + random(6); step > 0; step -= 1) {
    if (random(2) === 0) done(await misbehave(stage, random))
    if (random(5) === 0) done(`(accept ${sandbox.as(stage.shopper).accept(seen.offerId).kind})`)
    const method = pick(METHODS, random)
    const call = CALLS[method]
    if (!call) throw new Error(method)
    await timed(
      { what: method, limitMs: deadlineMs, trace },
      call({ steam, session: opened.session, partner, seen }),
    )
  }
  opened.session.close()
  return trace
}

function outcome(method: string, { kind, reason }: { kind: string; reason?: string }): string {
  return `${method}: ${kind}${reason === undefined ? '' : ` ${reason}`}`
}

type Traces = Map<number, Step[]>

/** Plays these scripts on several sandboxes at once. */
async function playAll(seeds: number[], deadlineMs: number): Promise<Traces> {
  const traces: Traces = new Map()
  const waiting = [...seeds]
  const lane = async () => {
    const stage = await openStage()
    for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) {
      traces.set(seed, await play(stage, seed, deadlineMs))
    }
    await stage.sandbox.close()
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return traces
}

const saidIn = (steps: readonly Step[] = []) => steps.map(({ said }) => said)

/** The seeds whose two traces differ, apart from those where the machine was too slow to tell by the first difference. */
function differing(seeds: number[], [some, others]: [Traces, Traces]): { really: number[]; equal: number } {
  const really: number[] = []
  let equal = 0
  for (const seed of seeds) {
    const [one, other] = [some.get(seed) ?? [], others.get(seed) ?? []]
    const length = Math.max(one.length, other.length)
    const first = Array.from({ length }, (_, at) => at).find((at) => one[at]?.said !== other[at]?.said)
    const before = first === undefined ? [] : [...one.slice(0, first + 1), ...other.slice(0, first + 1)]
    if (first === undefined) equal += 1
    else if (before.every(({ loopLateMs }) => loopLateMs < DISTURBED_MS)) really.push(seed)
  }
  return { really, equal }
}

const sockets = () => process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP')).length
const before = sockets()
afterAll(() => {
  clearInterval(ticking)
  console.log(`latest: ${latest.what}, ${Math.round(latest.ms)} ms after its deadline and the machine's lag`)
})

describe('a thousand scripts of failures', () => {
  let traces: Traces = new Map()
  const every = (nth: number) => Array.from({ length: SCRIPTS / nth }, (_, index) => 1 + index * nth)

  it('end in answers, in time, and leave no socket open', { timeout: 600_000 }, async () => {
    traces = await playAll(every(1), DEADLINE_MS)
    expect(traces.size).toBe(SCRIPTS)
    expect(latest.ms, latest.what).toBeLessThan(TOLERANCE_MS)
    const outcomes = new Set(saidIn([...traces.values()].flat()).filter((line) => !line.startsWith('(')))
    expect(new Set([...outcomes].map((line) => line.split(':')[0]))).toEqual(
      new Set(['openSession', ...METHODS]),
    )
    expect(outcomes.size).toBeGreaterThan(2 * METHODS.length)
    await expect.poll(sockets, { timeout: 20_000 }).toBe(before)
  })

  it('give the same trace when some of them are played again', { timeout: 120_000 }, async () => {
    const seeds = every(25)
    const { really, equal } = differing(seeds, [traces, await playAll(seeds, DEADLINE_MS)])
    expect(really).toEqual([])
    // A busy machine excuses a few, never most of them.
    expect(equal).toBeGreaterThan(seeds.length / 2)
  })

  it('give the same trace for the same seed where no deadline takes part', { timeout: 120_000 }, async () => {
    const seeds = every(25)
    const said = async () =>
      [...(await playAll(seeds, GENEROUS_MS))].map(([seed, steps]) => [seed, saidIn(steps)])
    const [first, second] = [await said(), await said()]
    expect(first).toHaveLength(seeds.length)
    expect(Object.fromEntries(first)).toEqual(Object.fromEntries(second))
  })
})
