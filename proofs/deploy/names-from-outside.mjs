/**
 * `node --import 'names-from-outside.mjs?tls=8443&plain=8080' …`: the names of the examples lead to a proxy on this machine,
 * ports 443 and 80 to the two that are named. They are called from an address that is no proxy's. The process does not know.
 */
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import tls from 'node:tls'

const query = new URL(import.meta.url).searchParams
const PORTS = { 443: Number(query.get('tls')), 80: Number(query.get('plain')) }

/** Options of a connection to an example's name, as ones to this machine. */
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
