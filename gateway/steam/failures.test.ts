/** Random bad days of the sandbox against the port: whatever Steam does, every call comes back with an answer. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { afterAll, describe, expect, it } from 'vitest'
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
/** Timers are late on a busy machine, by what the event loop is; a call that waits for Steam would be later still. */
const TOLERANCE_MS = 2_000
const MS_IN_NS = 1e6
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
/** How far a call went beyond its deadline. */
const latest = { ms: 0, what: '' }

async function timed<T extends { kind: string; reason?: string }>(
  { what, limitMs }: { what: string; limitMs: number },
  work: Promise<T>,
): Promise<T> {
  const start = performance.now()
  const answer = await work
  const ms = performance.now() - start - limitMs
  if (ms > latest.ms) Object.assign(latest, { ms, what })
  return answer
}

/** Plays one script; resolves to what was called and what came of it. */
async function play(stage: Stage, seed: number, deadlineMs: number): Promise<string[]> {
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
  const trace: string[] = []
  if (random(4) === 0) trace.push(await misbehave(stage, random))
  const opened = await timed(
    { what: 'openSession', limitMs: loginMs },
    steam.openSession(sandbox.as(stage.bot).refreshToken()),
  )
  trace.push(outcome('openSession', opened))
  if (opened.kind !== 'open') return trace
  const seen = { assetId, offerId: '1', tradeId: '1' }
  for (let step = 2 + random(6); step > 0; step -= 1) {
    if (random(2) === 0) trace.push(await misbehave(stage, random))
    if (random(5) === 0) trace.push(`(accept ${sandbox.as(stage.shopper).accept(seen.offerId).kind})`)
    const method = pick(METHODS, random)
    const call = CALLS[method]
    if (!call) throw new Error(method)
    const answer = await timed(
      { what: method, limitMs: deadlineMs },
      call({ steam, session: opened.session, partner, seen }),
    )
    trace.push(outcome(method, answer))
  }
  opened.session.close()
  return trace
}

function outcome(method: string, { kind, reason }: { kind: string; reason?: string }): string {
  return `${method}: ${kind}${reason === undefined ? '' : ` ${reason}`}`
}

/** Plays these scripts on several sandboxes at once. */
async function playAll(seeds: number[], deadlineMs: number): Promise<Map<number, string[]>> {
  const traces = new Map<number, string[]>()
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

const sockets = () => process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP')).length
const before = sockets()
afterAll(() => console.log(`latest: ${latest.what}, ${Math.round(latest.ms)} ms after its deadline`))

describe('a thousand scripts of failures', () => {
  it('end in answers, in time, and leave no socket open', { timeout: 600_000 }, async () => {
    const seeds = Array.from({ length: SCRIPTS }, (_, index) => index + 1)
    const lag = monitorEventLoopDelay()
    lag.enable()
    const traces = await playAll(seeds, DEADLINE_MS)
    expect(traces.size).toBe(SCRIPTS)
    expect(latest.ms).toBeLessThan(TOLERANCE_MS + lag.max / MS_IN_NS)
    const outcomes = new Set([...traces.values()].flat().filter((line) => !line.startsWith('(')))
    expect(new Set([...outcomes].map((line) => line.split(':')[0]))).toEqual(
      new Set(['openSession', ...METHODS]),
    )
    expect(outcomes.size).toBeGreaterThan(2 * METHODS.length)
    await expect.poll(sockets, { timeout: 20_000 }).toBe(before)
  })

  it('give the same trace for the same seed', { timeout: 120_000 }, async () => {
    const seeds = Array.from({ length: 40 }, (_, index) => 5_000 + index)
    expect(await playAll(seeds, GENEROUS_MS)).toEqual(await playAll(seeds, GENEROUS_MS))
  })
})
