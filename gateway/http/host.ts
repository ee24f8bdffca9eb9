/**
 * Refuses calls that were not meant for this till. A foreign page can point its own name at this machine (DNS
 * rebinding). Its calls then look like those of our page, except for their Host.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isLoopback, isLoopbackName } from '../../contract/loopback.ts'
import { refuse } from './refusal.ts'

export type HostOptions = {
  mode: 'sandbox' | 'live'
  publicUrl: URL
  /** Proxies that report whether a call came over https. Without such a proxy, this is unknown. */
  trustedProxies?: string[]
}

/** A load balancer calls these paths by IP address, over plain http. */
const ANY_HOST = new Set<string | undefined>(['/healthz', '/readyz'])

/**
 * Runs before every other rule. Avoids promises in a hook that runs for every poll, because each promise costs time.
 */
export function guardHost(app: FastifyInstance, options: HostOptions): void {
  const isOurs = hostCheck(options)
  const needsHttps = options.mode === 'live' && options.trustedProxies !== undefined
  app.addHook('onRequest', (request, _reply, done) => {
    if (!ANY_HOST.has(request.routeOptions.url)) {
      if (!isOurs(request.headers.host) || countHosts(request) > 1) refuse('wrong_host')
      if (needsHttps && !isHttps(request)) refuse('https_required')
    }
    done()
  })
}

/** Returns the number of Host headers. With several, Node uses the first, and the proxy may have used another. */
function countHosts({ raw: { rawHeaders } }: FastifyRequest): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count
}

/** `protocol` is from the header of the last proxy, if that proxy is trusted. */
const isHttps = ({ protocol }: FastifyRequest): boolean => protocol.toLowerCase() === 'https'

/**
 * Returns a function that checks whether a host is ours. The host of the public address is ours. In sandbox mode, or if
 * the public address is this machine, every loopback name is ours too: it leads each browser to the browser's machine.
 */
export function hostCheck({ mode, publicUrl }: HostOptions): (host: string | undefined) => boolean {
  const isLocal = mode === 'sandbox' || (publicUrl.protocol === 'http:' && isLoopback(publicUrl))
  const ourHosts = new Set([publicUrl.host, `${publicUrl.hostname}:${portOf(publicUrl)}`])
  return (host = '') =>
    ourHosts.has(host) || ourHosts.has(host.toLowerCase()) || (isLocal && isLoopbackHost(host))
}

const portOf = ({ port, protocol }: URL): string => port || (protocol === 'https:' ? '443' : '80')

function isLoopbackHost(host: string): boolean {
  const name = /^(\[[\da-f:.]+\]|[\w.-]+)(?::\d{1,5})?$/i.exec(host)?.[1]
  return name !== undefined && isLoopbackName(name)
}
