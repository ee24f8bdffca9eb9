/**
 * Refuses calls that were not meant for this till. A page elsewhere can point its own name at this machine (DNS
 * rebinding): its calls then look like those of our page, but for the Host that they name.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isLoopback, isLoopbackName } from '../kit/loopback.ts'
import { refuse } from './refusal.ts'

export type HostOptions = {
  mode: 'sandbox' | 'live'
  publicUrl: URL
  /** Only with proxies does a call tell whether it came over https. */
  trustedProxies?: string[]
}

/** A load balancer asks these by address, over plain http. */
const ANY_HOST = new Set<string | undefined>(['/healthz', '/readyz'])

/** Runs before every other rule. Without promises: polls pass here, and each one costs. */
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

/** Node takes the first of several, and the proxy may have gone by another one. */
function countHosts({ raw: { rawHeaders } }: FastifyRequest): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count
}

/** The last proxy's word, where it is a trusted one. */
const isHttps = ({ protocol }: FastifyRequest): boolean => protocol.toLowerCase() === 'https'

/**
 * Ours is the host of the public address. On one machine the till has all names of loopback: a name of a server there
 * would have to come from this machine.
 */
export function hostCheck({ mode, publicUrl }: HostOptions): (host: string | undefined) => boolean {
  const isLocal = mode === 'sandbox' || (publicUrl.protocol === 'http:' && isLoopback(publicUrl))
  const ours = new Set([publicUrl.host, `${publicUrl.hostname}:${portOf(publicUrl)}`])
  return (host = '') => ours.has(host) || ours.has(host.toLowerCase()) || (isLocal && isLoopbackHost(host))
}

const portOf = ({ port, protocol }: URL): string => port || (protocol === 'https:' ? '443' : '80')

function isLoopbackHost(host: string): boolean {
  const name = /^(\[[\da-f:.]+\]|[\w.-]+)(?::\d{1,5})?$/i.exec(host)?.[1]
  return name !== undefined && isLoopbackName(name)
}
