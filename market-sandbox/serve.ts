import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Effect } from './faults.ts'
import type { Incoming, Reply } from './http.ts'
import { pages } from './pages/pages.ts'
import { api } from './routes/api.ts'
import { control } from './routes/control.ts'
import { waxpeer } from './routes/waxpeer.ts'
import type { Markets, Route } from './sandbox.ts'

const MOST_BODY_BYTES = 256 * 1024
const MOST_LOG_ENTRIES = 500
const OWN_ROUTES: Route[] = [control, pages]
const MARKET_ROUTES: Route[] = [
  (request, { family }) => api(request, family),
  (request, markets) => waxpeer(request, markets.waxpeer),
]

/** Answers one request. Active faults can delay, replace or lose the answer. */
export async function serve(
  message: IncomingMessage,
  response: ServerResponse,
  markets: Markets,
): Promise<void> {
  // Both markets share faults and log.
  const market = markets.family
  const request = await read(message, market.url)
  if (!request) return send(response, { status: 413, headers: {}, body: '' })
  if (!request.isOwn) market.log.push({ method: request.method, host: request.host, path: request.path })
  if (market.log.length > MOST_LOG_ENTRIES) market.log.shift()
  const effect = market.faults.take(request)
  if (effect?.delayMs !== undefined) await market.pause(effect.delayMs)
  const reply = (effect && replyOf(effect, request)) ?? (await answer(request, markets))
  if (effect?.lost) return void response.destroy()
  send(response, reply)
}

function replyOf({ status = 200, body, html }: Effect, request: Incoming): Reply | undefined {
  if (body === undefined) return undefined
  const headers = { 'content-type': html ? 'text/html' : 'application/json' }
  return { status, headers, body: typeof body === 'string' ? body : body(request) }
}

async function answer(request: Incoming, markets: Markets): Promise<Reply> {
  const { url } = markets.family
  // Refuses pages of other sites that are open in the same browser.
  if (request.isOwn && request.method !== 'GET' && request.origin && !isOwnOrigin(request.origin, url)) {
    return { status: 403, headers: {}, body: 'This came from another site.' }
  }
  for (const route of request.isOwn ? OWN_ROUTES : MARKET_ROUTES) {
    const reply = await route(request, markets)
    if (reply) return reply
  }
  return { status: 404, headers: { 'content-type': 'text/plain' }, body: 'Not found' }
}

function isOwnOrigin(origin: string, url: string): boolean {
  return origin === url || origin === url.replace('localhost', '127.0.0.1')
}

async function read(message: IncomingMessage, ownUrl: string): Promise<Incoming | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of message) {
    size += chunk.length
    if (size > MOST_BODY_BYTES) return undefined
    chunks.push(chunk)
  }
  const host = message.headers.host ?? ''
  const [path = '/', search = ''] = (message.url ?? '/').split('?', 2)
  const body = Buffer.concat(chunks).toString()
  return {
    method: message.method ?? 'GET',
    host: host.replace(/:\d+$/, ''),
    isOwn: isOwnOrigin(`http://${host}`, ownUrl),
    origin: message.headers.origin,
    path,
    query: new URLSearchParams(search),
    form: new URLSearchParams(body),
    body,
  }
}

function send(response: ServerResponse, reply: Reply): void {
  response.writeHead(reply.status, { 'x-content-type-options': 'nosniff', ...reply.headers })
  response.end(reply.body)
}
