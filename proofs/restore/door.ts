/** A proxy with a fixed address. It leads to a server, and later to the server that replaces the lost one. */
import { connect, createServer, type Socket } from 'node:net'

export type Door = {
  port: number
  /** Directs new connections to this port, and cuts the open ones. */
  leadTo(port: number): void
  close(): Promise<void>
}

export async function openDoor(): Promise<Door> {
  let target: number | undefined
  const open = new Set<Socket>()
  const server = createServer((inside) => {
    if (target === undefined) return void inside.destroy()
    const outside = connect(target, '127.0.0.1')
    for (const [one, other] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      open.add(one)
      one.on('error', () => other.destroy()).on('close', () => other.destroy() && open.delete(one))
      one.pipe(other)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const cut = (): void => {
    for (const socket of open) socket.destroy()
  }
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    leadTo(port) {
      target = port
      cut()
    },
    close: () => {
      cut()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
