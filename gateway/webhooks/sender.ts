import { lookup } from 'node:dns'
import http from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import { isAnswerFull, readPartOf } from './challenge-answer.ts'
import { createResolve, type Resolve } from './resolve.ts'
import { addressOf, type FindAllowance, mayConnect, refuseUrl, whyNotConnected, withCommand } from './url.ts'

export type SendResult =
  | {
      kind: 'answered'
      status: number
      /** The unparsed header. */
      retryAfter?: string
      /** The beginning of the body, at most 1024 bytes. */
      text: string
    }
  /** The reason is for the operator only, because it would show a store what else is in the network. */
  | { kind: 'failed'; reason: string }

export const isAccepted = (result: SendResult): boolean =>
  result.kind === 'answered' && result.status >= 200 && result.status < 300

/** The result as a short text: the status, or why there was no answer. */
export const resultText = (result: SendResult): string =>
  result.kind === 'answered' ? `status ${result.status}` : result.reason

export type WebhookRequest = {
  storeId: bigint
  url: string
  headers: Record<string, string>
  body: string
  signal?: AbortSignal
}

export type SenderOptions = {
  /**
   * `live` sends to port 443 of public hosts, and to addresses that the operator allows; a public sandbox has this mode
   * too. `sandbox` sends only to addresses that the operator allows.
   */
  mode: 'sandbox' | 'live'
  findAllowance: FindAllowance
  deadlineMs?: number
  /**
   * Finds the addresses of a name. The default is the system's look-up in the sandbox, and DNS in live mode. In live
   * mode, the system looks up only names that the operator allows to lead into the network: they may be in the
   * machine's hosts file, and no stranger can choose them to hold up other webhooks.
   */
  resolve?: Resolve
  /** The DNS servers of live mode; the system's by default. */
  dnsServers?: string[]
}

const DEADLINE_MS = 15_000

export type Sender = (request: WebhookRequest) => Promise<SendResult>

export function createSender({
  mode,
  findAllowance,
  deadlineMs = DEADLINE_MS,
  dnsServers,
  resolve,
}: SenderOptions): Sender {
  const askDns = createResolve({ servers: dnsServers })
  return async (request) => {
    const url = URL.parse(request.url)
    if (url === null) return failed('the address is not a URL')
    const { storeId } = request
    const allowance = await findAllowance(storeId, addressOf(url))
    const reach = { mode, allowance }
    const refusal = refuseUrl(url, reach)
    if (refusal !== undefined) return failed(withCommand(refusal, { storeId, url, allowance }))
    const isSecure = url.protocol === 'https:'
    const isAllowed = (address: string): boolean => mayConnect(address, reach, isSecure)
    const refused = withCommand(whyNotConnected(reach, isSecure), { storeId, url, allowance })
    const usual = mode === 'live' && allowance?.inside !== true ? askDns : lookup
    return send(url, request, { lookup: guardedLookup(resolve ?? usual, isAllowed, refused), deadlineMs })
  }
}

const failed = (reason: string): SendResult => ({ kind: 'failed', reason })

/**
 * Refuses a name if any of its addresses is not allowed. A name is looked up once per call, and the socket connects
 * to the checked answer. A change of the name after the check has no effect.
 */
function guardedLookup(
  resolve: Resolve,
  isAllowed: (address: string) => boolean,
  refusal: string,
): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) {
        callback(error, [])
        return
      }
      if (addresses.length === 0 || !addresses.every(({ address }) => isAllowed(address))) {
        callback(new Error(refusal), [])
        return
      }
      const [first] = addresses
      if (options.all === true || first === undefined) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}

type Guards = { lookup: LookupFunction; deadlineMs: number }

function send(url: URL, request: WebhookRequest, { lookup, deadlineMs }: Guards): Promise<SendResult> {
  const { promise, resolve } = Promise.withResolvers<SendResult>()
  const deadline = AbortSignal.timeout(deadlineMs)
  const transport = url.protocol === 'https:' ? https : http
  const options: https.RequestOptions = {
    method: 'POST',
    lookup,
    // Every call connects again, so every call checks the address.
    agent: false,
    headers: {
      ...request.headers,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(request.body),
      'user-agent': 'Tradetill-Webhooks/1',
    },
    signal: request.signal ? AbortSignal.any([request.signal, deadline]) : deadline,
  }
  const outgoing = transport.request(url, options)
  outgoing.on('response', (answer) => {
    const chunks: Buffer[] = []
    let bytes = 0
    answer.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      chunks.push(chunk)
      // The rest of a long body is not used, so end the answer.
      if (isAnswerFull(bytes)) answer.destroy()
    })
    const done = () => resolve(resultOf(answer, Buffer.concat(chunks)))
    answer.on('close', done)
    answer.on('error', done)
    // The store has decided: whatever ends the call now, the status counts.
    outgoing.removeAllListeners('error').on('error', done)
  })
  // After status 101, Node reports neither a response nor an error unless someone takes the socket. The attempt would
  // hang.
  outgoing.on('upgrade', (answer, socket) => {
    socket.destroy()
    resolve(resultOf(answer, Buffer.alloc(0)))
  })
  outgoing.on('error', (error) => resolve({ kind: 'failed', reason: reasonOf(error) }))
  outgoing.end(request.body)
  return promise
}

function resultOf(answer: http.IncomingMessage, body: Buffer): SendResult {
  const retryAfter = answer.headers['retry-after']
  return {
    kind: 'answered',
    status: answer.statusCode ?? 0,
    ...(retryAfter === undefined ? {} : { retryAfter }),
    // PostgreSQL rejects NUL.
    text: readPartOf(body).replaceAll('\0', ''),
  }
}

function reasonOf(error: Error): string {
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return 'no answer in time'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message.slice(0, 500)
}
