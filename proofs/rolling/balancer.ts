/**
 * A small balancer. It polls whether each gateway is ready. If a gateway refuses the connection for a call, the call
 * goes to another one.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

export type Balancer = {
  url: string
  calls(): number
  /** A line for each call that failed for its caller. */
  failures: string[]
  close(): Promise<void>
}

const POLL_MS = 100
/** How long to look for a ready gateway for one call. */
const TRIES_MS = 10_000
/** Matches answers that ask the caller to retry later. They do not count as failures. */
const RETRY_LATER = /"code":"(?:no_bot_available|steam_unavailable)"/

type Answer = { status: number; headers: IncomingMessage['headers']; body: Buffer }
type Call = { method: string; path: string; headers: IncomingMessage['headers']; body: Buffer }

export async function startBalancer(targets: readonly string[]): Promise<Balancer> {
  const ready = new Set<string>()
  const failures: string[] = []
  const ending = new AbortController()
  let calls = 0
  const watching = Promise.all(targets.map((target) => watch(target, ready, ending.signal)))

  const handle = async (incoming: IncomingMessage, reply: ServerResponse): Promise<void> => {
    calls += 1
    const incomingCall = await readCall(incoming)
    const answer = await passOn(incomingCall, ready)
    const text = typeof answer === 'string' ? answer : `${answer.status} ${answer.body.subarray(0, 300)}`
    const isFailure = typeof answer === 'string' || (answer.status >= 500 && !RETRY_LATER.test(text))
    if (isFailure) failures.push(`${incomingCall.method} ${incomingCall.path.split('?')[0]}: ${text}`)
    if (typeof answer === 'string') return void reply.writeHead(502).end()
    reply.writeHead(answer.status, answer.headers).end(answer.body)
  }
  const server = createServer((incoming, reply) => {
    handle(incoming, reply).catch(() => reply.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    url: `http://localhost:${typeof address === 'object' && address !== null ? address.port : 0}`,
    calls: () => calls,
    failures,
    async close() {
      ending.abort()
      await watching
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

async function watch(target: string, ready: Set<string>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const answer = await fetch(`${target}/readyz`, { signal: AbortSignal.timeout(2_000) }).catch(
      () => undefined,
    )
    if (answer?.ok) ready.add(target)
    else ready.delete(target)
    await delay(POLL_MS)
  }
}

async function readCall(incoming: IncomingMessage): Promise<Call> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  const { method = 'GET', url = '/', headers } = incoming
  return { method, path: url, headers, body: Buffer.concat(chunks) }
}

/** Resolves to the answer, or to the reason why there is none. */
async function passOn(sent: Call, ready: Set<string>): Promise<Answer | string> {
  const endMs = performance.now() + TRIES_MS
  // The time chooses the first gateway to try, which spreads the calls.
  let turn = Math.floor(performance.now())
  while (performance.now() < endMs) {
    const targets = [...ready]
    const target = targets[turn % Math.max(1, targets.length)]
    turn += 1
    if (target === undefined) {
      await delay(POLL_MS)
      continue
    }
    const answer = await send(sent, target)
    if (answer !== 'refused') return answer
    ready.delete(target)
  }
  return 'no gateway was ready'
}

function send({ method, path, headers, body }: Call, target: string): Promise<Answer | 'refused' | 'broken'> {
  return new Promise((resolve) => {
    let isConnected = false
    const call = request(new URL(path, target), { method, headers, agent: false }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('error', () => resolve('broken'))
      answer.on('end', () => {
        // Node sets these two headers for the caller's own connection.
        const { 'transfer-encoding': _, connection: __, ...rest } = answer.headers
        resolve({ status: answer.statusCode ?? 0, headers: rest, body: Buffer.concat(chunks) })
      })
    })
    call.on('socket', (socket) =>
      socket.on('connect', () => {
        isConnected = true
      }),
    )
    call.on('error', () => resolve(isConnected ? 'broken' : 'refused'))
    call.end(body)
  })
}
