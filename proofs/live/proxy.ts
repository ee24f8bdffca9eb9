/** Calls the gateway as a proxy that terminates TLS does: over plain http, with the public host name. */
import { request } from 'node:http'
import { text } from 'node:stream/consumers'

type Call = { method?: string; headers?: Record<string, string>; body?: object }

export type Answer = { status: number; headers: Record<string, string | string[] | undefined>; body: string }

/** `from`: the address of the caller. */
export function proxyTo(port: number, { host, from }: { host: string; from: string }) {
  return (path: string, { method = 'GET', headers = {}, body }: Call = {}): Promise<Answer> => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const proxyHeaders = { host, 'x-forwarded-proto': 'https', 'x-forwarded-for': from }
    const bodyHeaders = body === undefined ? {} : { 'content-type': 'application/json' }
    request({ port, path, method, headers: { ...proxyHeaders, ...bodyHeaders, ...headers } }, (answer) => {
      const { statusCode: status = 0, headers: answerHeaders } = answer
      text(answer).then((read) => resolve({ status, headers: answerHeaders, body: read }), reject)
    })
      .once('error', reject)
      .end(body === undefined ? undefined : JSON.stringify(body))
    return promise
  }
}
