/**
 * The headers that every call must bring before anything is read of it. Ports of one host are one site to a browser, so the page of
 * another port could call with our cookie: its Origin and Sec-Fetch-Site tell it apart. All calls are POST, because a
 * browser names the origin of a GET to its own host to nobody.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { refuseCall } from './answer.ts'

type Place = {
  url: URL
  mode: 'sandbox' | 'live'
  /** Whether proxies stand in front: only then does a call say that it came over https. */
  isProxied: boolean
}

export function guardCalls(app: FastifyInstance, place: Place): void {
  app.addHook('onRequest', async (request) => {
    if (!isOurHost(request, place)) refuseCall('wrong_host')
    if (place.mode === 'live' && place.isProxied && request.protocol !== 'https') refuseCall('https_required')
    if (!isCall(request)) return
    if (request.method !== 'POST') refuseCall('cross_site')
    if (!isOwnPage(request, place.url.origin)) refuseCall('cross_site')
    if (!/^application\/json(?:;|$)/i.test(request.headers['content-type'] ?? '')) refuseCall('cross_site')
  })
}

/** By its route, as it was matched: an address can be written in more ways than one. */
const isCall = ({ routeOptions }: FastifyRequest): boolean => routeOptions.url?.startsWith('/ops/') === true

function isOwnPage({ headers }: FastifyRequest, origin: string): boolean {
  return headers.origin === origin && headers['sec-fetch-site'] === 'same-origin'
}

/** Node takes the first of several Host headers, and a proxy may have gone by another one. */
function isOurHost({ headers, raw: { rawHeaders } }: FastifyRequest, { url }: Place): boolean {
  const named = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host')
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  const ours = [url.host, `${url.hostname}:${port}`]
  return named.length === 1 && ours.includes(String(headers.host).toLowerCase())
}
