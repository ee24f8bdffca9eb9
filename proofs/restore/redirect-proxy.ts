/** A proxy with a fixed address, in front of a server and later of the server that replaces it. */
import { connect, createServer, type Socket } from 'node:net'

export type RedirectProxy = {
  port: number
  /** Directs new connections to this port, and cuts the open ones. */
  redirectTo(port: number): void
  close(): Promise<void>
}

export async function startRedirectProxy(): Promise<RedirectProxy> {
  let target: number | undefined
  const open = new Set<Socket>()
  const server = createServer((client) => {
    if (target === undefined) return void client.destroy()
    const upstream = connect(target, '127.0.0.1')
    for (const [end, otherEnd] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(end)
      end.on('error', () => otherEnd.destroy()).on('close', () => otherEnd.destroy() && open.delete(end))
      end.pipe(otherEnd)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const cut = (): void => {
    for (const socket of open) socket.destroy()
  }
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    redirectTo(port) {
      target = port
      cut()
    },
    close: () => {
      cut()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
