import { Agent, type OutgoingHttpHeaders, request } from 'node:http'
import { buffer } from 'node:stream/consumers'

export type Answer = { status: number; text: string; tookMs: number }
type CallOptions = { headers?: OutgoingHttpHeaders; body?: object }

export type Caller = {
  call(path: string, options?: CallOptions): Promise<Answer>
  end(): void
}

const CALL_MS = 60_000
/** A token in the form that the gateway expects. It must be the same in the cookie and in the header. */
const CSRF = 'k'.repeat(43)

/** `address`: the local address of its calls, such as 127.0.1.7. */
export function createCaller(url: string, address: string, maxSockets = 6): Caller {
  const agent = new Agent({ keepAlive: true, maxSockets })
  const { hostname, port, origin } = new URL(url)
  const page = { cookie: `csrf=${CSRF}`, 'x-csrf-token': CSRF, origin }
  return {
    async call(path, { headers = {}, body } = {}) {
      const beganMs = performance.now()
      const sent = body === undefined ? undefined : JSON.stringify(body)
      const json = sent === undefined ? {} : { 'content-type': 'application/json' }
      const { promise, resolve, reject } = Promise.withResolvers<Answer>()
      const method = sent === undefined ? 'GET' : 'POST'
      const allHeaders = { ...page, ...json, ...headers }
      const signal = AbortSignal.timeout(CALL_MS)
      const options = {
        agent,
        hostname,
        port,
        path,
        method,
        headers: allHeaders,
        localAddress: address,
        signal,
      }
      request(options, (answer) => {
        buffer(answer).then(
          (bytes) =>
            resolve({
              status: answer.statusCode ?? 0,
              text: bytes.toString(),
              tookMs: performance.now() - beganMs,
            }),
          reject,
        )
      })
        .once('error', reject)
        .end(sent)
      return promise
    },
    end: () => agent.destroy(),
  }
}
