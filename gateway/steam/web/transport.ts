/// <reference path="./libraries.d.ts" />
import type { Agent } from 'node:https'
import Request, { type RequestApi, type RequestCallback, type RequestOptions, type Response } from 'request'
import type { HttpResult } from '../outcomes.ts'
import type { RawReply } from '../record.ts'

const MAX_ANSWER_BYTES = 16 * 1024 * 1024

type BoundRequest = {
  (options: RequestOptions, callback: RequestCallback): void
  defaults(options: RequestOptions): BoundRequest
}

export type Transport = {
  /** The function that the libraries get in place of `request`. */
  request: BoundRequest
  /**
   * Starts one request through a library and resolves to its result, within `ms` in total.
   * `start` must call the library's method synchronously and pass `done` as its callback.
   */
  run(ms: number, start: (done: () => void) => void): Promise<HttpResult>
  /** Ends all running requests. Later ones fail immediately. */
  close(): void
}

class TransportError extends Error {
  readonly code: string
  constructor(code: string) {
    super(code)
    this.code = code
  }
}

type Call = { ms: number; result: HttpResult; end(): void }

/**
 * The libraries' transport. It adds three things that they lack: a deadline for the entire request, a limit on the
 * size of the answer, and a catch for errors that an answer causes inside the library.
 */
export function createTransport(
  agent: Agent | undefined,
  onReply: (reply: RawReply) => void = () => {},
): Transport {
  const cuts = new Set<() => void>()
  let isClosed = false
  // Set only while `start` runs. The libraries call `request` synchronously, but do not pass on a deadline.
  let current: Call | undefined

  const bind = (base: RequestApi): BoundRequest => {
    const send = (options: RequestOptions, callback: RequestCallback) => {
      const call = current
      const finish: RequestCallback = (error, response, body) => {
        if (!cuts.delete(cut)) return
        clearTimeout(timer)
        if (call) call.result = error || !response ? failure(error) : reply(response, body)
        if (response) onReply(rawReply(response, body))
        passToLibrary(call, callback, [error, response, body])
      }
      const stop = (code: string) => {
        running.abort()
        finish(new TransportError(code))
      }
      const cut = () => stop('CLOSED')
      // Every request needs a deadline: one outside of `run` has none, and is aborted immediately.
      const timer = setTimeout(() => stop(call ? 'DEADLINE' : 'NO_DEADLINE'), call?.ms ?? 0)
      cuts.add(cut)
      const running = base(options, finish)
      let bytes = 0
      running.on('data', (chunk) => {
        bytes += chunk.length
        if (bytes > MAX_ANSWER_BYTES) stop('TOO_LARGE')
      })
    }
    return Object.assign(send, { defaults: (more: RequestOptions) => bind(base.defaults(more)) })
  }

  return {
    request: bind(Request.defaults(agent ? { agent } : { forever: true })),
    run(ms, start) {
      if (isClosed || ms <= 0) {
        return Promise.resolve({ kind: 'failed', code: isClosed ? 'CLOSED' : 'DEADLINE' })
      }
      return new Promise((resolve) => {
        const end = () => resolve(call.result)
        const call = { ms, result: failure(new TransportError('NOT_SENT')), end }
        current = call
        try {
          start(end)
        } catch {
          end()
        } finally {
          current = undefined
        }
      })
    },
    close() {
      isClosed = true
      for (const cut of [...cuts]) cut()
    },
  }
}

function passToLibrary(
  call: Call | undefined,
  callback: RequestCallback,
  answer: Parameters<RequestCallback>,
): void {
  try {
    callback(...answer)
  } catch {
    // A hostile answer made the library throw before it called back. Report an error to the library, or its caller
    // would wait forever.
    if (call) call.result = failure(new TransportError('UNREADABLE'))
    try {
      callback(new TransportError('UNREADABLE'))
    } catch {
      call?.end()
    }
  }
}

function reply(response: Response, body: unknown): HttpResult {
  const eresult = Number.parseInt(String(response.headers['x-eresult'] ?? ''), 10)
  return { kind: 'reply', status: response.statusCode, eresult: Number.isNaN(eresult) ? null : eresult, body }
}

function rawReply({ request, statusCode: status, headers }: Response, body: unknown): RawReply {
  return { method: request.method, url: request.uri.href, status, headers, body }
}

/** Keeps only codes. The texts of network and parse errors quote addresses and answers, which contain tokens. */
function failure(error: Error | null): HttpResult {
  const code = error && 'code' in error ? String(error.code) : ''
  return { kind: 'failed', code: /^[A-Z][A-Z0-9_]{1,40}$/.test(code) ? code : 'NETWORK' }
}
