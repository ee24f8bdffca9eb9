/**
 * A careless proxy in front of the gateway, on real sockets. It sets the headers that proxies set, and passes on every
 * other byte unchanged. So the gateway must refuse bad requests itself.
 */
import { connect, createServer, type Socket } from 'node:net'
import type { Target } from './target.ts'
import { answeredBy, portOf } from './wire.ts'

const HEAD_END = '\r\n\r\n'
/** The caller's own header about its scheme, which must not get through. */
const PROTO = /^x-forwarded-proto:.*\r\n/gim

/** Sends a request through the proxy. `caller`: the address that the proxy sees. Resolves to the entire answer. */
export async function throughProxy(target: Target, caller: string, request: string): Promise<string> {
  const gateway = await portOf(target)
  const server = createServer({ allowHalfOpen: true }, (socket) => relay(socket, { gateway, caller }))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const at = server.address()
  const answer = await answeredBy(typeof at === 'object' && at !== null ? at.port : 0, request)
  await new Promise((resolve) => server.close(resolve))
  return answer
}

function relay(socket: Socket, { gateway, caller }: { gateway: number; caller: string }): void {
  const behind = connect({ port: gateway, host: '127.0.0.1', allowHalfOpen: true })
  for (const [one, other] of [
    [socket, behind],
    [behind, socket],
  ] as const)
    one.on('error', () => other.destroy()).on('close', () => other.end())
  let head = ''
  let isSent = false
  socket.on('data', (chunk) => {
    if (isSent) return void behind.write(chunk)
    head += chunk.toString('latin1')
    const end = head.indexOf(HEAD_END)
    if (end < 0) return
    isSent = true
    const own = `\r\nX-Forwarded-For: ${caller}\r\nX-Forwarded-Proto: https`
    behind.write(
      `${head
        .slice(0, end + 2)
        .replace(PROTO, '')
        .slice(0, -2)}${own}${head.slice(end)}`,
      'latin1',
    )
  })
  socket.on('end', () => behind.end())
  behind.pipe(socket)
}
