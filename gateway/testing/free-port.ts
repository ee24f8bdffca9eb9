import { freePort as freePortWithin } from '../kit/free-port.ts'

/** Does not overlap the range from which an embedded PostgreSQL takes its port. */
const PORTS = { from: 20_000, until: 32_000 }

const usedPorts = new Set<number>()

/** Returns a free port for a server that is about to start, never the same port twice in one process. */
export async function freePort(): Promise<number> {
  const port = await freePortWithin(PORTS)
  if (usedPorts.has(port)) return freePort()
  usedPorts.add(port)
  return port
}
