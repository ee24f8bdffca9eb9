/**
 * Plays scripts: random calls of the port, and random failures of the sandbox. Every call must get an answer in time.
 * Time is simulated. It stands still while a request is running, and otherwise jumps to the next timer. The full run:
 * `PROOF_SCRIPTS=1000 npm test -- gateway/steam/web/failures`.
 */
import type { Agent } from 'node:https'
import { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { startSteam } from '../../../steam-sandbox/start.ts'
import { fakeClock } from '../../testing/clock.ts'
import { endsInFakeTime, holdBack, type Traffic } from '../../testing/fake-time.ts'
import type { Partner, Steam, SteamSession } from '../steam.ts'
import { createSandboxAgent } from './agent.ts'
import { createWebSteam } from './web-steam.ts'

/** The default is enough for every behaviour of the sandbox to occur, which the first test checks. */
const SCRIPTS = Number(process.env.PROOF_SCRIPTS ?? 160)
/**
 * In milliseconds. A script has either the deadlines of a gateway, or deadlines so short that a slow answer misses
 * them.
 */
const DEADLINES = [
  { login: 10_000, send: 15_000, inventory: 15_000, own: 60_000, other: 10_000 },
  { login: 1_000, send: 200, inventory: 200, own: 200, other: 200 },
]
/** Timers round the rest of a deadline up to whole milliseconds, once for each request. */
const ROUNDING_MS = 10
const NOW = new Date('2026-03-02T12:00:00Z')

type Sandbox = Awaited<ReturnType<typeof startSteam>>
type Random = (below: number) => number

/** Returns a generator of pseudo-random integers (Mulberry32). */
function randomOf(seed: number): Random {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

function pick<T>(values: readonly T[], random: Random): T {
  const picked = values[random(values.length)]
  if (picked === undefined) throw new Error('nothing to pick from')
  return picked
}

type Stage = {
  sandbox: Sandbox
  traffic: Traffic
  agent: Agent
  behaviours: string[]
  shopper: string
  bot: string
}

async function openStage(): Promise<Stage> {
  const traffic: Traffic = { sockets: new Set(), heldAnswers: new Set() }
  const { sockets } = traffic
  const sandbox = await startSteam({
    port: 0,
    clock: () => NOW.getTime(),
    pause: holdBack(traffic),
  })
  const agent = createSandboxAgent('sandbox', sandbox.url)
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (...args) => {
    const socket = connect(...args)
    if (!(socket instanceof Socket)) throw new Error('the agent opened no socket')
    sockets.add(socket)
    return socket.once('close', () => sockets.delete(socket))
  }
  const named = z.array(z.object({ name: z.string() }))
  const read = async (path: string) =>
    named.parse(await (await fetch(`${sandbox.url}/control/${path}`)).json()).map(({ name }) => name)
  const [behaviours, [shopper = ''], [bot = '']] = [
    await read('behaviours'),
    await read('players'),
    await read('bots'),
  ]
  return { sandbox, traffic, agent, behaviours, shopper, bot }
}

type Seen = { assetId: string; offerId: string; tradeId: string }
type Answer = { kind: string; reason?: string }
type Call = (port: { steam: Steam; session: SteamSession; partner: Partner; seen: Seen }) => Promise<Answer>

const CALLS: Record<string, Call> = {
  checkPartner: ({ session, partner }) => session.checkPartner(partner),
  readInventory: ({ session, partner }) => session.readInventory(partner, 'cs', 'en'),
  readOwnInventory: ({ session }) => session.readOwnInventory('cs', { isProtected: true }),
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
  listOffers: ({ session }) => session.listOffers(new Date(NOW.getTime() - 60_000), null),
  cancelOffer: ({ session, seen }) => session.cancelOffer(seen.offerId),
  declineOffer: ({ session, seen }) => session.declineOffer(seen.offerId),
  readSteamTrade: ({ session, seen }) => session.readSteamTrade(seen.tradeId),
  listSteamTrades: ({ session }) => session.listSteamTrades(null),
  acknowledgeProtection: ({ session }) => session.acknowledgeProtection(),
  readProfile: ({ steam, partner }) => steam.readProfile(partner.steamId),
}
const METHODS = Object.keys(CALLS)
const LIMIT_OF: Record<string, keyof (typeof DEADLINES)[number]> = {
  openSession: 'login',
  sendOffer: 'send',
  readInventory: 'inventory',
  readOwnInventory: 'own',
}

/** Plays one script. Resolves to its calls with their results, and the failures and accepts between them. */
async function play({ sandbox, traffic, agent, ...stage }: Stage, seed: number): Promise<string[]> {
  const random = randomOf(seed)
  sandbox.reset()
  vi.clearAllTimers()
  const shopper = sandbox.as(stage.shopper)
  const token = new URL(shopper.tradeUrl()).searchParams.get('token') ?? ''
  const partner = { steamId: shopper.steamId, token }
  const seen = { assetId: shopper.tradable(730)[0]?.assetId ?? '', offerId: '1', tradeId: '1' }
  const deadlines = pick(DEADLINES, random)
  const steam = createWebSteam({ redirect: agent, deadlines, clock: fakeClock(NOW), random: () => 0.5 })
  const trace: string[] = []

  const misbehave = (name = pick(stage.behaviours, random)) => {
    const times = 1 + random(4)
    sandbox.begin(name, { times })
    trace.push(`(${name} ${times})`)
  }
  const call = async <T extends Answer>(method: string, work: Promise<T>): Promise<T> => {
    const limitMs = deadlines[LIMIT_OF[method] ?? 'other'] + ROUNDING_MS
    const isInTime = await endsInFakeTime({ what: `script ${seed}, ${method}`, limitMs }, traffic, work)
    const { kind, reason } = await work
    trace.push(`${method}: ${kind}${reason === undefined ? '' : ` ${reason}`}`)
    expect(isInTime, `script ${seed}: ${trace.join(', ')}`).toBe(true)
    return work
  }
  // The scripts take the behaviours in turn, so all of them occur. A script's own behaviour begins at random before or
  // after the session opens.
  const ownBehaviour = stage.behaviours[seed % stage.behaviours.length]
  const isFirst = random(2) === 0
  if (isFirst) misbehave(ownBehaviour)
  const opened = await call('openSession', steam.openSession(sandbox.as(stage.bot).refreshToken()))
  if (opened.kind !== 'open') return trace
  if (!isFirst) misbehave(ownBehaviour)
  for (let step = 2 + random(6); step > 0; step -= 1) {
    if (random(2) === 0) misbehave()
    if (random(5) === 0) trace.push(`(accept ${sandbox.as(stage.shopper).accept(seen.offerId).kind})`)
    const method = pick(METHODS, random)
    const made = CALLS[method]?.({ steam, session: opened.session, partner, seen })
    if (made === undefined) throw new Error(method)
    await call(method, made)
  }
  opened.session.close()
  return trace
}

type Traces = Map<number, string[]>

async function playAll(seeds: number[]): Promise<{ traces: Traces; stage: Stage }> {
  const stage = await openStage()
  // This also replaces the libraries' timers, which pause between two login attempts.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  try {
    const traces: Traces = new Map()
    for (const seed of seeds) traces.set(seed, await play(stage, seed))
    return { traces, stage }
  } finally {
    vi.useRealTimers()
    await stage.sandbox.close()
  }
}

describe(`${SCRIPTS} scripts of failures`, () => {
  let traces: Traces
  let stage: Stage
  const every = (nth: number) => Array.from({ length: SCRIPTS / nth }, (_, index) => 1 + index * nth)

  beforeAll(async () => {
    ;({ traces, stage } = await playAll(every(1)))
  }, 600_000)
  afterAll(() => vi.useRealTimers())

  it('get an answer to every call, and leave no socket open', async () => {
    expect(traces.size).toBe(SCRIPTS)
    const outcomes = new Set([...traces.values()].flat().filter((line) => !line.startsWith('(')))
    expect(new Set([...outcomes].map((line) => line.split(':')[0]))).toEqual(
      new Set(['openSession', ...METHODS]),
    )
    expect(outcomes.size).toBeGreaterThan(2 * METHODS.length)
    const behavioursMet = [...traces.values()]
      .flat()
      .flatMap((line) => /^\((\S+) \d\)$/.exec(line)?.[1] ?? [])
    expect(new Set(behavioursMet)).toEqual(new Set(stage.behaviours))
    await expect.poll(() => stage.traffic.sockets.size, { message: 'open sockets' }).toBe(0)
  })

  it('leave the same traces when they are played a second time', async () => {
    const seeds = every(8)
    const again = await playAll(seeds)
    expect([...again.traces]).toEqual(seeds.map((seed) => [seed, traces.get(seed)]))
  })
})
