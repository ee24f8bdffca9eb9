/** Requests that two readers would cut apart differently, on real sockets: family 27. */
import { connect } from 'node:net'
import { type Family, family } from '../attack.ts'
import type { Target } from '../target.ts'
import { never } from './checks.ts'

const CONNECTIONS = 'gateway/http/connections.ts'
const HEAD = 'Host: till.test\r\nX-Forwarded-Proto: https\r\nContent-Type: application/json\r\n'

const REQUESTS: Record<string, string> = {
  'a length and chunks': `POST /api/trade HTTP/1.1\r\n${HEAD}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'chunks and a length': `POST /api/trade HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n`,
  'a line of a header that goes on': `GET /healthz HTTP/1.1\r\n${HEAD}X-More: a\r\n b\r\n\r\n`,
  'a header after a bare line feed': `GET /healthz HTTP/1.1\r\n${HEAD}X-More: a\nX-Other: b\r\n\r\n`,
  'a control character in a header': `GET /healthz HTTP/1.1\r\n${HEAD}X-More: a\u0001b\r\n\r\n`,
  'a length after chunks that are not the last coding': `POST /api/trade HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
}

/** The first line of the answer, or nothing where the connection was only cut. */
function firstLineOf(port: number, request: string): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => socket.end(request))
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(text.split('\r\n')[0] ?? ''))
  })
}

async function portOf({ app }: Target): Promise<number> {
  if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 })
  const at = app.server.address()
  return typeof at === 'object' && at !== null ? at.port : 0
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
    const line = await firstLineOf(
      await portOf(target),
      `GET /healthz HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`,
    )
    return never(line !== 'HTTP/1.1 200 OK', line)
  },
  async cases(target) {
    const port = await portOf(target)
    return Object.entries(REQUESTS).map(([what, request]) => ({
      what,
      by: 'the strict parser' as const,
      async attack() {
        const line = await firstLineOf(port, request)
        return never(line !== 'HTTP/1.1 400 Bad Request', `answered ${line}`)
      },
    }))
  },
})
