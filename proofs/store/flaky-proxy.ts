/**
 * A proxy in front of a store's webhook address. About three of ten calls fail, before or after they reach the store.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Random } from '../random.ts'

/** `status`: the answer 500. `silence`: no answer. `reset`: the connection is cut. `redirect`: the answer 302. */
type Failure = 'status' | 'silence' | 'reset' | 'redirect'

export type FlakyProxy = {
  url: string
  calls: number
  failures: number
  failuresByKind: Record<Failure, number>
  /** How often the store answered 2xx to each webhook id. */
  accepted: Map<string, number>
  /** Drops every call from now on. */
  drop(): void
  /** How many calls were dropped. */
  dropped: number
  close(): Promise<void>
}

const FAILURE_RATE = 0.3
const KINDS: readonly Failure[] = ['status', 'silence', 'reset', 'redirect']
/** At most this many failures of one webhook. The schedule has eleven attempts, and chance must not use them up. */
const MOST_OF_A_WEBHOOK = 4

export async function startFlakyProxy(target: string, random: Random): Promise<FlakyProxy> {
  const failuresById = new Map<string, number>()
  let isDropping = false
  const server = createServer(async (request, response) => {
    const id = String(request.headers['webhook-id'])
    const body = await text(request)
    if (isDropping) {
      proxy.dropped += 1
      request.socket.destroy()
      return
    }
    proxy.calls += 1
    const failuresBefore = failuresById.get(id) ?? 0
    const isFailing = random.next() < FAILURE_RATE && failuresBefore < MOST_OF_A_WEBHOOK
    // Half of the failures lose the answer instead of the call.
    const isForwarded = !isFailing || random.next() < 0.5
    const status = isForwarded ? await forward(target, request, body) : 0
    if (status >= 200 && status < 300) proxy.accepted.set(id, (proxy.accepted.get(id) ?? 0) + 1)
    if (!isFailing) {
      response.writeHead(status).end()
      return
    }
    failuresById.set(id, failuresBefore + 1)
    proxy.failures += 1
    const kind = KINDS[random.int(KINDS.length)] ?? 'status'
    proxy.failuresByKind[kind] += 1
    fail(kind, request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const proxy: FlakyProxy = {
    url: `http://127.0.0.1:${port}/hook`,
    calls: 0,
    failures: 0,
    failuresByKind: { status: 0, silence: 0, reset: 0, redirect: 0 },
    accepted: new Map(),
    dropped: 0,
    drop: () => {
      isDropping = true
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return proxy
}

async function forward(target: string, request: IncomingMessage, body: string): Promise<number> {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'content-type']
  const headers = Object.fromEntries(names.map((name) => [name, String(request.headers[name])]))
  try {
    return (await fetch(target, { method: 'POST', headers, body })).status
  } catch {
    // The store did not answer.
    return 502
  }
}

function fail(kind: Failure, request: IncomingMessage, response: ServerResponse): void {
  switch (kind) {
    case 'status':
      response.writeHead(500).end()
      return
    case 'silence':
      return
    case 'reset':
      request.socket.destroy()
      return
    case 'redirect':
      response.writeHead(302, { location: '/hook' }).end()
      return
    default:
      kind satisfies never
  }
}
