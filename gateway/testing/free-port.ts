import { freePort as freePortOf } from '../kit/free-port.ts'

/** Keeps apart from the range of the embedded database, because a starting till takes ports of that range. */
const PORTS = { from: 20_000, until: 32_000 }

const given = new Set<number>()

/** Returns a free port of this machine for a server that is about to start, never the same twice. */
export async function freePort(): Promise<number> {
  const port = await freePortOf(PORTS)
  if (given.has(port)) return freePort()
  given.add(port)
  return port
}
