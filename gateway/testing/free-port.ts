import { freePort as freePortOf } from '../kit/free-port.ts'

/** Apart from those of the embedded database, which a till that is started takes meanwhile. */
const PORTS = { from: 20_000, until: 32_000 }

const given = new Set<number>()

/** A port of this machine for a server that is about to start. Each is given once. */
export async function freePort(): Promise<number> {
  const port = await freePortOf(PORTS)
  if (given.has(port)) return freePort()
  given.add(port)
  return port
}
