/** Calls to a proxy on this machine under the example host names, trusting the proxy's own certificate. */
import { readFileSync } from 'node:fs'
import { type IncomingMessage, request as plainRequest } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'

export type ProxyAddress = { tlsPort: number; plainPort: number; certificate: string }

type Call = {
  host?: string
  method?: string
  headers?: Record<string, string>
  body?: string
  /** The only version of TLS to offer. */
  version?: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'
}

export type Answer = { status: number; headers: IncomingMessage['headers']; body: string }

/** The example host names of the shoppers' page and of the console. */
export const PAGE = 'pay.example'
export const CONSOLE = 'till-ops.example'

const optionsOf = (path: string, { host = PAGE, method = 'GET', headers = {} }: Call) => ({
  host: '127.0.0.1',
  path,
  method,
  headers: { host, ...headers },
})

/** Resolves when the headers of the answer have arrived. */
export function open(address: ProxyAddress, path: string, call: Call = {}): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const { host = PAGE, body, version } = call
  // OpenSSL offers TLS 1.1 only at its lowest level of security.
  const versions =
    version === undefined ? {} : { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' }
  const ca = readFileSync(address.certificate)
  request(
    { ...optionsOf(path, call), port: address.tlsPort, servername: host, ca, agent: false, ...versions },
    resolve,
  )
    .once('error', reject)
    .end(body)
  return promise
}

export async function ask(address: ProxyAddress, path: string, call: Call = {}): Promise<Answer> {
  const answer = await open(address, path, call)
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: await text(answer) }
}

/** Asks over plain http. */
export function askPlainly(address: ProxyAddress, path: string, call: Call = {}): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  plainRequest({ ...optionsOf(path, call), port: address.plainPort, agent: false }, (answer) => {
    const { statusCode: status = 0, headers } = answer
    text(answer).then((body) => resolve({ status, headers, body }), reject)
  })
    .once('error', reject)
    .end()
  return promise
}

/** The protocol that the proxy agrees on with a client that offers HTTP/2. */
export function protocolOf(address: ProxyAddress): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const ca = readFileSync(address.certificate)
  const session = connectHttp2(`https://127.0.0.1:${address.tlsPort}`, { servername: PAGE, ca })
  session.once('error', reject).once('connect', () => {
    resolve(session.alpnProtocol ?? 'none')
    session.close()
  })
  return promise
}
