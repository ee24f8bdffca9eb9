/**
 * `node --import without-steam.mjs …` finds no address of Steam, so no test depends on Steam, or on whether this
 * machine's clock agrees with Steam's.
 */
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'

const { lookup } = dns
dns.lookup = (host, ...rest) => {
  if (!/(^|\.)steam(powered|community)\.com$/.test(host)) return lookup(host, ...rest)
  process.nextTick(
    rest.at(-1),
    Object.assign(new Error(`${host} is out of reach in a test`), { code: 'ENOTFOUND' }),
  )
}
syncBuiltinESMExports()
