import type { IncomingMessage, ServerResponse } from 'node:http'
import { replyOf } from './faults.ts'
import { type Incoming, parseJson, type Reply } from './http.ts'
import { pages } from './pages/pages.ts'
import { api } from './routes/api.ts'
import { community } from './routes/community.ts'
import { control } from './routes/control.ts'
import { enrolment } from './routes/enrolment.ts'
import { images } from './routes/images.ts'
import { login } from './routes/login.ts'
import type { Route, Sandbox } from './sandbox.ts'

const MAX_BODY_BYTES = 256 * 1024
const MAX_LOG = 200
const STEAM_ROUTES: Route[] = [login, enrolment, api, community]
const OWN_ROUTES: Route[] = [images, control, pages]

/** Answers one request. An active fault can delay, change or withhold the answer. */
export async function serve(
  message: IncomingMessage,
  response: ServerResponse,
  sandbox: Sandbox,
): Promise<void> {
  const request = await read(message, sandbox.url)
  if (!request) return sendReply(response, { status: 413, headers: {}, body: '' })
  count(request, sandbox)
  // The log omits control calls, because tills read the clock every second.
  const isControl = request.isOwn && request.path.startsWith('/control/')
  if (!isControl) sandbox.log.push({ method: request.method, host: request.host, path: request.path })
  if (sandbox.log.length > MAX_LOG) sandbox.log.shift()
  const fault = sandbox.faults.take(request, sandbox.world())
  if (fault && fault.delayMs > 0) await sandbox.pause(fault.delayMs, response)
  if (fault?.effect.drop === 'before') return void response.destroy()
  if (fault?.effect.hang === 'before') return sandbox.pause(Infinity, response)
  const replaced = fault && replyOf(fault)
  // With these faults, Steam carries the request out, and only the answer is affected.
  const isOnlyAnswerAffected =
    fault?.effect.hang === 'after' || fault?.effect.drop === 'after' || fault?.effect.change
  const reply = replaced && !isOnlyAnswerAffected ? replaced : answer(request, sandbox)
  if (fault?.effect.drop === 'after') return void response.destroy()
  if (fault?.effect.hang === 'after') return sandbox.pause(Infinity, response)
  sendReply(response, fault?.effect.change?.(reply, request) ?? reply)
}

/** The most kinds of requests to count. Further kinds are left out. */
const MOST_COUNTS = 500

function count({ method, host, path, isOwn }: Incoming, { counts }: Sandbox): void {
  const key = `${method} ${host}${path.replace(/\d+/g, '*')}`
  if (isOwn || (!counts.has(key) && counts.size >= MOST_COUNTS)) return
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function answer(request: Incoming, sandbox: Sandbox): Reply {
  // Refuses changes by pages of other sites that are open in the same browser.
  if (
    request.isOwn &&
    request.method !== 'GET' &&
    request.origin &&
    !isOwnOrigin(request.origin, sandbox.url)
  ) {
    return { status: 403, headers: {}, body: 'This came from another site.' }
  }
  for (const route of request.isOwn ? OWN_ROUTES : STEAM_ROUTES) {
    const reply = route(request, sandbox)
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
    if (size > MAX_BODY_BYTES) return undefined
    chunks.push(chunk)
  }
  const host = message.headers.host ?? ''
  // Without `new URL`, because that would read the part after two slashes as a host.
  const [path = '/', search = ''] = (message.url ?? '/').split('?', 2)
  const body = Buffer.concat(chunks)
  const type = message.headers['content-type'] ?? ''
  return {
    method: message.method ?? 'GET',
    host: host.replace(/:\d+$/, ''),
    isOwn: isOwnOrigin(`http://${host}`, ownUrl),
    origin: message.headers.origin,
    referer: message.headers.referer ?? '',
    path,
    query: new URLSearchParams(search),
    form: await formOf(body, type),
    json: type.startsWith('application/json') ? parseJson(body.toString()) : undefined,
    cookies: cookiesOf(message.headers.cookie ?? ''),
  }
}

async function formOf(body: Buffer, type: string): Promise<URLSearchParams> {
  if (!type.startsWith('multipart/form-data')) return new URLSearchParams(body.toString())
  const data = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData()
  return new URLSearchParams([...data].map(([name, value]): [string, string] => [name, String(value)]))
}

function cookiesOf(header: string): ReadonlyMap<string, string> {
  return new Map(
    header.split(/;\s*/).map((pair) => {
      const at = pair.indexOf('=')
      return [pair.slice(0, at), pair.slice(at + 1)]
    }),
  )
}

function sendReply(response: ServerResponse, reply: Reply): void {
  const security = { 'x-content-type-options': 'nosniff' }
  response.writeHead(reply.status, { ...security, ...reply.headers })
  response.end(reply.body)
}
