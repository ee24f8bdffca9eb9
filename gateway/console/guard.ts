/**
 * Checks the headers of every call before anything else is read. To a browser, all ports of a host are one site, so a
 * page on another port could call with our cookie. Origin and Sec-Fetch-Site reveal such a call. All calls are POST,
 * because browsers send no Origin with a page's GET to its own origin.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { refuseCall } from './answer.ts'

type ConsoleSite = {
  url: URL
  mode: 'sandbox' | 'live'
  /** True if the console is behind proxies. Only they can report that a call arrived over https. */
  isProxied: boolean
}

export function guardCalls(app: FastifyInstance, site: ConsoleSite): void {
  app.addHook('onRequest', async (request) => {
    if (!isOurHost(request, site)) refuseCall('wrong_host')
    if (site.mode === 'live' && site.isProxied && request.protocol !== 'https') refuseCall('https_required')
    if (!isCall(request)) return
    // Our page always sends JSON with POST, so a call with another method or type comes from elsewhere.
    if (request.method !== 'POST') refuseCall('cross_site')
    if (!isOwnPage(request, site.url.origin)) refuseCall('cross_site')
    if (!/^application\/json(?:;|$)/i.test(request.headers['content-type'] ?? '')) refuseCall('cross_site')
  })
}

/** Checks the matched route, because a URL can be written in several ways. */
const isCall = ({ routeOptions }: FastifyRequest): boolean => routeOptions.url?.startsWith('/ops/') === true

function isOwnPage({ headers }: FastifyRequest, origin: string): boolean {
  return headers.origin === origin && headers['sec-fetch-site'] === 'same-origin'
}

/** False for a call with several Host headers: Node uses the first, but a proxy may have used another. */
function isOurHost({ headers, raw: { rawHeaders } }: FastifyRequest, { url }: ConsoleSite): boolean {
  const hostHeaders = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host')
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  const ourHosts = [url.host, `${url.hostname}:${port}`]
  return hostHeaders.length === 1 && ourHosts.includes(String(headers.host).toLowerCase())
}
