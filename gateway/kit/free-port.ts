import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** `from` is included, `until` is not. */
export type Ports = { from: number; until: number }

const MOST_TRIES = 1_000

/**
 * Finds a free port of this machine. Use a range below 32768: the system gives out higher ports to programs that ask
 * for any port, so another program could take one before it is used.
 */
export async function freePort({ from, until }: Ports): Promise<number> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const port = randomInt(from, until)
    if (await isFree(port)) return port
  }
  throw new Error(`No port from ${from} to ${until - 1} was free in ${MOST_TRIES} tries.`)
}

function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)))
  })
}
