/** Requests that a proxy and the gateway could split differently, on real sockets: family 27. */
import { type Family, family } from '../attack.ts'
import { throughProxy } from '../proxy.ts'
import { answerTo, firstLineOf, portOf } from '../wire.ts'
import { problemIf } from './checks.ts'

const CONNECTIONS = 'gateway/http/connections.ts'
const CALLER = '203.0.113.27'
const HEAD = 'Host: till.test\r\nX-Forwarded-Proto: https\r\nContent-Type: application/json\r\n'

const LAST_CHUNK = '0\r\n\r\n'

/** Requests that the gateway must refuse. */
const REQUESTS: Record<string, string> = {
  'a length and chunks': `POST /api/trade HTTP/1.1\r\n${HEAD}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n${LAST_CHUNK}`,
  'chunks and a length': `POST /api/trade HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n${LAST_CHUNK}`,
  'a header that continues on the next line': `GET /healthz HTTP/1.1\r\n${HEAD}X-More: a\r\n b\r\n\r\n`,
  'a header after a bare line feed': `GET /healthz HTTP/1.1\r\n${HEAD}X-More: a\nX-Other: b\r\n\r\n`,
  'a control character in a header': `GET /healthz HTTP/1.1\r\n${HEAD}X-More: a\u0001b\r\n\r\n`,
  'chunks that are not the last coding': `POST /api/trade HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked, identity\r\n\r\n${LAST_CHUNK}`,
}

/** A request inside the body of another. The gateway must not read it as a second request. */
const HIDDEN = 'GET /healthz HTTP/1.1\r\nHost: till.test\r\nX-Forwarded-For: 10.0.0.1\r\n\r\n'
const THROUGH_PROXY: Record<string, string> = {
  ...REQUESTS,
  'a request after the chunks, within the given length': `POST /api/trade HTTP/1.1\r\n${HEAD}Content-Length: ${LAST_CHUNK.length + HIDDEN.length}\r\nTransfer-Encoding: chunked\r\n\r\n${LAST_CHUNK}${HIDDEN}`,
}

export const smuggling: Family = family({
  number: 27,
  name: 'request smuggling',
  kind: 'till',
  defences: {
    'the strict parser': {
      at: `${CONNECTIONS} boundedServers`,
      off: [
        {
          file: CONNECTIONS,
          from: 'maxHeaderSize: MAX_HEADER_BYTES,',
          to: 'maxHeaderSize: MAX_HEADER_BYTES, insecureHTTPParser: true,',
        },
      ],
    },
  },
  async honest(target) {
    const request = `GET /healthz HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`
    for (const answer of [
      await answerTo(await portOf(target), request),
      await throughProxy(target, CALLER, request),
    ])
      if (firstLineOf(answer) !== 'HTTP/1.1 200 OK') return `answered ${answer}`
    return undefined
  },
  async cases(target) {
    const port = await portOf(target)
    const ways: [
      suffix: string,
      requests: Record<string, string>,
      send: (request: string) => Promise<string>,
    ][] = [
      ['', REQUESTS, (request) => answerTo(port, request)],
      [', through a proxy', THROUGH_PROXY, (request) => throughProxy(target, CALLER, request)],
    ]
    return ways.flatMap(([suffix, requests, send]) =>
      Object.entries(requests).map(([what, request]) => ({
        what: `${what}${suffix}`,
        stoppedBy: 'the strict parser' as const,
        async attack() {
          const line = firstLineOf(await send(request))
          return problemIf(line !== 'HTTP/1.1 400 Bad Request', `answered ${line}`)
        },
      })),
    )
  },
})
