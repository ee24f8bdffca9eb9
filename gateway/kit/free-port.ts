import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** From the first to before the last. */
export type Ports = { from: number; until: number }

const MOST_TRIES = 1_000

/**
 * A port of this machine on which nothing listens. Take them from below 32768: from there on a system hands them out to
 * whoever asks for any, and one could be somebody's before it is used.
 */
export async function freePort({ from, until }: Ports): Promise<number> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const port = randomInt(from, until)
    if (await isFree(port)) return port
  }
  throw new Error(`No port from ${from} to ${until} is free.`)
}

function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)))
  })
}
