/**
 * `node --import 'names-from-outside.mjs?tls=8443&plain=8080' …` redirects the example host names to a proxy on this
 * machine: port 443 to `tls`, port 80 to `plain`. The calls come from an address that is not a proxy's.
 */
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import tls from 'node:tls'

const query = new URL(import.meta.url).searchParams
const PORTS = { 443: Number(query.get('tls')), 80: Number(query.get('plain')) }

/** Redirects the options of a connection from an example host name to this machine. */
function redirected(args) {
  const [options, ...rest] = args
  const isExample = typeof options === 'object' && /\.example$/.test(options.host ?? '')
  if (!isExample) return args
  const { host, port } = options
  return [
    { ...options, host: '127.0.0.1', localAddress: '127.0.0.2', port: PORTS[port || 443], servername: host },
    ...rest,
  ]
}

for (const module of [net, tls]) {
  const { connect } = module
  module.connect = (...args) => connect(...redirected(args))
}
syncBuiltinESMExports()
