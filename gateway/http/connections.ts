/** Limits connections: their number, the requests that wait on each, and the time that they may take. */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Log } from '../kit/log.ts'
import { createPlaces } from '../kit/places.ts'
import { addressKey } from './limits.ts'

export type ConnectionLimits = {
  inAll: number
  /**
   * Connections of one address, unless it is a trusted proxy. Also limits the running calls of one address, even
   * through a proxy.
   */
  perAddress: number
  /** Pipelined requests that may wait on one connection. Browsers and proxies do not pipeline. */
  waiting: number
  /** Time from the connection, or from the first byte of a later request, to the end of the headers. */
  headersMs: number
  /** Time from the same moment to the end of the body. */
  requestMs: number
  /** Time from a request's headers, or from its turn if it waited, until its client has received the entire answer. */
  answerMs: number
  /** Bytes of answers that clients have not read yet, over all connections. */
  unreadBytes: number
  checkEveryMs: number
}

export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = {
  inAll: 4_000,
  perAddress: 200,
  waiting: 8,
  headersMs: 10_000,
  requestMs: 25_000,
  // Leaves time for the longest wait for a bot, and then for sending a large inventory to a slow phone.
  answerMs: 90_000,
  unreadBytes: 64 * 1024 * 1024,
  checkEveryMs: 1_000,
}

const KEEP_ALIVE_MS = 60_000
const MAX_HEADER_BYTES = 16 * 1024
const REPORT_EVERY_MS = 60_000

type Options = {
  limits: ConnectionLimits
  log: Log
  isTrustedProxy(address: string): boolean
  /** Monotonic milliseconds. */
  nowMs(): number
}

/** Creates the servers of an app, one for each address that it listens on. The limits apply to each separately. */
export function boundedServers(
  options: Options,
): (serve: RequestListener) => ReturnType<typeof createServer> {
  const { headersMs, requestMs, checkEveryMs, inAll } = options.limits
  return (serve) => {
    const cuts = createCuts(options)
    const answers = createAnswers(options, cuts)
    const server = createServer(
      {
        headersTimeout: headersMs,
        requestTimeout: requestMs,
        connectionsCheckingInterval: checkEveryMs,
        keepAliveTimeout: KEEP_ALIVE_MS,
        maxHeaderSize: MAX_HEADER_BYTES,
      },
      answers.inTurn(serve),
    )
    server.maxConnections = inAll
    server.on('drop', () => cuts.count('overAll'))
    server.on('connection', limitAddresses(options, cuts))
    const checks = setInterval(() => {
      answers.cutSlowReaders()
      cuts.report()
    }, checkEveryMs).unref()
    server.on('close', () => clearInterval(checks))
    return server
  }
}

/** Why a connection was cut, as the log names it. */
type Cause =
  /** There were too many connections in all, or of one address. */
  | 'overAll'
  | 'overAddress'
  /** Too many pipelined requests waited. */
  | 'askedTooMuch'
  /** An answer was not received in time, or too many bytes were unread in total. */
  | 'readTooSlowly'

type Cuts = {
  count(cause: Cause): void
  cut(socket: Socket, cause: Cause): void
  report(): void
}

/** Counts the cut connections, and logs the counts once a minute at most: an attack must not fill the log. */
function createCuts({ log, nowMs }: Options): Cuts {
  let counts: Partial<Record<Cause, number>> = {}
  let reportedMs = Number.NEGATIVE_INFINITY
  const count = (cause: Cause): void => {
    counts[cause] = (counts[cause] ?? 0) + 1
  }
  return {
    count,
    cut: (socket, cause) => {
      count(cause)
      socket.resetAndDestroy()
    },
    report: () => {
      const now = nowMs()
      if (Object.keys(counts).length === 0 || now - reportedMs < REPORT_EVERY_MS) return
      log.warn(counts, 'connections were cut')
      counts = {}
      reportedMs = now
    },
  }
}

function limitAddresses({ limits, isTrustedProxy }: Options, cuts: Cuts): (socket: Socket) => void {
  const places = createPlaces(limits.perAddress)
  return (socket) => {
    const { remoteAddress } = socket
    if (remoteAddress === undefined || isTrustedProxy(remoteAddress)) return
    const key = addressKey(remoteAddress)
    if (!places.take(key)) return cuts.cut(socket, 'overAddress')
    socket.once('close', () => places.free(key))
  }
}

/** The requests of a connection. `sinceMs`: when the current one began. */
type Pipeline = { sinceMs: number; waiting: { request: IncomingMessage; response: ServerResponse }[] }

/**
 * Serves the requests of a connection one after another. Node would start all requests of one packet together: forty
 * requests for a file would open it forty times for one reader.
 */
function createAnswers({ limits, nowMs }: Options, cuts: Cuts) {
  const pipelines = new Map<Socket, Pipeline>()

  const inTurn = (serve: RequestListener): RequestListener => {
    const begin = (pipeline: Pipeline, request: IncomingMessage, response: ServerResponse): void => {
      pipeline.sinceMs = nowMs()
      response.on('close', () => serveNext(pipeline, request.socket))
      serve(request, response)
    }
    const serveNext = (pipeline: Pipeline, socket: Socket): void => {
      const next = socket.destroyed ? undefined : pipeline.waiting.shift()
      if (next === undefined) pipelines.delete(socket)
      else begin(pipeline, next.request, next.response)
    }
    return (request, response) => {
      const { socket } = request
      if (socket.destroyed) return
      const pipeline = pipelines.get(socket)
      if (pipeline === undefined) {
        const first = { sinceMs: 0, waiting: [] }
        pipelines.set(socket, first)
        begin(first, request, response)
      } else if (pipeline.waiting.length >= limits.waiting) cuts.cut(socket, 'askedTooMuch')
      else pipeline.waiting.push({ request, response })
    }
  }

  /**
   * Cuts connections that take too long. While too many bytes are unread in total, also cuts others, oldest request
   * first.
   */
  const cutSlowReaders = (): void => {
    const now = nowMs()
    let unreadBytes = 0
    for (const [socket, { sinceMs }] of pipelines) {
      if (now - sinceMs > limits.answerMs) cuts.cut(socket, 'readTooSlowly')
      else unreadBytes += socket.writableLength
    }
    if (unreadBytes <= limits.unreadBytes) return
    for (const [socket] of [...pipelines].sort(([, a], [, b]) => a.sinceMs - b.sinceMs)) {
      if (unreadBytes <= limits.unreadBytes) return
      if (socket.destroyed || socket.writableLength === 0) continue
      unreadBytes -= socket.writableLength
      cuts.cut(socket, 'readTooSlowly')
    }
  }

  return { inTurn, cutSlowReaders }
}
