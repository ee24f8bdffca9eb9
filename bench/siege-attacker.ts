/**
 * The hostile side of a siege, in a separate process. It receives its plan as JSON and calls at a fixed rate until its
 * parent sends `end`. Then it reports how often it got each status.
 */
import { randomBytes, randomInt } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { GAMES } from '../contract/games.ts'
import { type Caller, createCaller } from './siege-calls.ts'

export const planSchema = z.object({
  url: z.string(),
  /** The means of the attack: only an address, a deposit's link, or the key of a store. */
  kind: z.enum(['address', 'link', 'store']),
  /** Hash of the attacked link. */
  hash: z.string(),
  /** For the kind `link`: trade links to pick from at random. */
  tradeUrls: z.array(z.string()),
  /** Key of the hostile store. */
  apiKey: z.string(),
})
export type Plan = z.infer<typeof planSchema>

/** Calls per second of all callers together. The rate is limited, to measure the gateway and not this machine. */
const CALLS_A_SECOND = 200
const CALLERS = 20
const IDLE_SOCKETS = 300
/** How far a caller may fall behind its rate before it skips calls. */
const MOST_LATE_MS = 1_000

type Move = (caller: Caller) => ReturnType<Caller['call']>

const errorReport = (hash: string): object => ({
  message: randomHex(),
  type: 'Error',
  filename: 'main.js',
  lineno: 1,
  empty: false,
  url: `http://localhost/deposit/${hash}`,
})
const randomHex = (): string => randomBytes(16).toString('hex')
const pick = <T>(values: readonly T[]): T | undefined => values[randomInt(values.length)]

/** Calls that need only an address, such as those with an unknown path or link, a guessed key, or too many items. */
const movesFromAddress: readonly Move[] = [
  (caller) => caller.call(`/${randomHex()}`),
  (caller) => caller.call(`/deposit/${randomHex()}`),
  (caller) => caller.call(`/api/payment?hash=${randomHex()}`),
  (caller) => caller.call('/v1/deposits', { headers: { authorization: `Bearer tt_test_${randomHex()}` } }),
  (caller) => caller.call('/api/error-report', { body: errorReport(randomHex()) }),
  (caller) => caller.call('/api/trade', { body: { hash: randomHex(), items: Array(5_000).fill('1') } }),
  (caller) => caller.call('/healthz'),
]

/** Calls with one real link, from many addresses. */
const movesWithLink = ({ hash, tradeUrls }: Plan): readonly Move[] => [
  (caller) => caller.call(`/api/payment?hash=${hash}`),
  (caller) => caller.call('/api/trade-url', { body: { hash, tradeUrl: pick(tradeUrls) } }),
  (caller) => caller.call(`/api/inventory?hash=${hash}&game=${pick(GAMES)}`),
  (caller) => caller.call(`/api/inventory?hash=${hash}&game=${pick(GAMES)}&reload=true`),
  (caller) =>
    caller.call('/api/trade', { body: { hash, game: pick(GAMES), items: ['1'], quoteId: randomHex() } }),
  (caller) => caller.call('/api/error-report', { body: errorReport(hash) }),
]

const movesAsStore = ({ apiKey }: Plan): readonly Move[] => {
  const headers = { authorization: `Bearer ${apiKey}` }
  const deposit = () => ({ externalId: randomHex(), currency: 'USD', backToStoreUrl: 'http://localhost/' })
  return [
    (caller) => caller.call('/v1/deposits', { headers, body: deposit() }),
    (caller) => caller.call('/v1/deposits?limit=100', { headers }),
    (caller) => caller.call('/v1/events?limit=100', { headers }),
    (caller) => caller.call('/v1/balance', { headers }),
    (caller) => caller.call('/v1/prices?game=cs', { headers }),
    (caller) => caller.call(`/v1/deposits/${randomInt(1, 1e9)}`, { headers }),
  ]
}

function movesOf(plan: Plan): readonly Move[] {
  if (plan.kind === 'address') return movesFromAddress
  return plan.kind === 'link' ? movesWithLink(plan) : movesAsStore(plan)
}

function moveOf(moves: readonly Move[], turn: number): Move {
  const move = moves[turn % moves.length]
  if (move === undefined) throw new Error('the siege has no moves')
  return move
}

/** Opens connections that send half a request and then nothing. */
function openIdle(url: string): Socket[] {
  const { hostname, port } = new URL(url)
  return Array.from({ length: IDLE_SOCKETS }, () => {
    const socket = connect({ host: hostname, port: Number(port), localAddress: '127.0.9.1' })
    // The gateway may close the connection.
    socket.on('error', () => {}).write('GET / HTTP/1.1\r\nhost: ')
    return socket
  })
}

async function attack(plan: Plan, ending: AbortSignal): Promise<Record<string, number>> {
  const moves = movesOf(plan)
  const idle = plan.kind === 'address' ? openIdle(plan.url) : []
  // Loopback addresses that no honest shopper has.
  const callers = Array.from({ length: CALLERS }, (_, n) =>
    createCaller(plan.url, `127.0.9.${plan.kind === 'address' ? 1 : n + 1}`),
  )
  const statuses: Record<string, number> = {}
  const keepCalling = async (caller: Caller, firstTurn: number): Promise<void> => {
    let nextMs = performance.now()
    for (let turn = firstTurn; !ending.aborted; turn += 1) {
      const status = await moveOf(
        moves,
        turn,
      )(caller).then(
        (answer) => String(answer.status),
        () => 'cut',
      )
      statuses[status] = (statuses[status] ?? 0) + 1
      nextMs = Math.max(nextMs + (1_000 * CALLERS) / CALLS_A_SECOND, performance.now() - MOST_LATE_MS)
      await delay(Math.max(0, nextMs - performance.now()))
    }
  }
  await Promise.all(callers.map(keepCalling))
  for (const caller of callers) caller.end()
  for (const socket of idle) socket.destroy()
  return statuses
}

if (process.argv[2] !== undefined) {
  const ending = new AbortController()
  process.once('message', () => ending.abort())
  process.once('disconnect', () => ending.abort())
  const statuses = await attack(planSchema.parse(JSON.parse(process.argv[2])), ending.signal)
  process.send?.(statuses, () => process.disconnect())
}
