/**
 * A careless proxy in front of the gateway, on real sockets. It sets the headers that proxies set, in place of a
 * caller's own `X-Forwarded-Proto`, and passes on every other byte unchanged. So the gateway must refuse bad requests
 * itself.
 */
import { connect, createServer, type Socket } from 'node:net'
import type { Target } from './target.ts'
import { answerTo, portOf } from './wire.ts'

const HEAD_END = '\r\n\r\n'
/** The caller's own header about its scheme, which must not get through. */
const SCHEME_HEADER = /^x-forwarded-proto:.*\r\n/gim

/** Sends a request through the proxy. `caller`: the address that the proxy sees. Resolves to the entire answer. */
export async function throughProxy(target: Target, caller: string, request: string): Promise<string> {
  const gatewayPort = await portOf(target)
  const server = createServer({ allowHalfOpen: true }, (socket) => relay(socket, { gatewayPort, caller }))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const at = server.address()
  const answer = await answerTo(typeof at === 'object' && at !== null ? at.port : 0, request)
  await new Promise((resolve) => server.close(resolve))
  return answer
}

function relay(socket: Socket, { gatewayPort, caller }: { gatewayPort: number; caller: string }): void {
  const gatewaySocket = connect({ port: gatewayPort, host: '127.0.0.1', allowHalfOpen: true })
  for (const [end, otherEnd] of [
    [socket, gatewaySocket],
    [gatewaySocket, socket],
  ] as const)
    end.on('error', () => otherEnd.destroy()).on('close', () => otherEnd.end())
  let head = ''
  let isSent = false
  socket.on('data', (chunk) => {
    if (isSent) return void gatewaySocket.write(chunk)
    head += chunk.toString('latin1')
    const end = head.indexOf(HEAD_END)
    if (end < 0) return
    isSent = true
    const proxyHeaders = `\r\nX-Forwarded-For: ${caller}\r\nX-Forwarded-Proto: https`
    // `SCHEME_HEADER` matches whole lines with their line breaks, so the last line break is cut only after the match.
    gatewaySocket.write(
      `${head
        .slice(0, end + 2)
        .replace(SCHEME_HEADER, '')
        .slice(0, -2)}${proxyHeaders}${head.slice(end)}`,
      'latin1',
    )
  })
  socket.on('end', () => gatewaySocket.end())
  gatewaySocket.pipe(socket)
}
