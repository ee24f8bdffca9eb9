import type { FastifyInstance, FastifyReply } from 'fastify'

const YEAR_S = 31_536_000

/**
 * Browser features that are denied to our pages, unless a page allows them. `bluetooth` is left out, because Chromium
 * on Linux logs it as unknown.
 */
const DENIED = [
  'accelerometer',
  'camera',
  'clipboard-read',
  'display-capture',
  'geolocation',
  'gyroscope',
  'hid',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'publickey-credentials-get',
  'serial',
  'usb',
  'xr-spatial-tracking',
]

/** Lets a page itself use the `allowed` features, but no frame in it. */
const permissions = (allowed: readonly string[]): string =>
  DENIED.map((feature) => `${feature}=(${allowed.includes(feature) ? 'self' : ''})`).join(', ')

/** Headers of every answer. A page or a call can replace them. */
export function commonHeaders(publicUrl: URL): [name: string, value: string][] {
  return [
    ['x-content-type-options', 'nosniff'],
    ['referrer-policy', 'no-referrer'],
    ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
    ['x-frame-options', 'DENY'],
    ['cross-origin-resource-policy', 'same-origin'],
    ['cross-origin-opener-policy', 'same-origin'],
    ['permissions-policy', permissions([])],
    // Browsers ignore this over plain http, and must not store it for names of the local machine.
    ...(publicUrl.protocol === 'https:'
      ? [['strict-transport-security', `max-age=${YEAR_S}`] satisfies [string, string]]
      : []),
  ]
}

/**
 * Adds the common headers to every answer except a 304, which repeats an answer that had them. Most answers are 304s,
 * because waiting pages poll every second.
 */
export function addHeaders(app: FastifyInstance, publicUrl: URL): void {
  const headers = commonHeaders(publicUrl)
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (reply.statusCode !== 304) {
      const mayBeFramed = framableReplies.has(reply)
      for (const [name, value] of headers)
        if (!reply.hasHeader(name) && !(mayBeFramed && name === 'x-frame-options')) reply.header(name, value)
    }
    done()
  })
}

/**
 * Answers whose policy lets a page frame them. They have no X-Frame-Options, because that header cannot contain an
 * origin.
 */
const framableReplies = new WeakSet<FastifyReply>()

export const API_HEADERS = { 'cache-control': 'no-store' } as const

/** Origins that are safe to insert into a policy. */
const PLAIN_ORIGIN = /^https?:\/\/[\w.:[\]-]+$/

/** The sources that a page may use. `styleHashes`: its inline styles. */
export type PageSources = { imageOrigins: readonly string[]; styleHashes?: readonly string[] }

/** Allows pages of this origin to frame the answer, unless the origin is unsafe in a policy. By default none may. */
export function allowFraming(reply: FastifyReply, sources: PageSources, origin: string): void {
  if (!PLAIN_ORIGIN.test(origin)) return
  framableReplies.add(reply)
  reply.header('content-security-policy', pageHeaders(sources, origin)['content-security-policy'])
}

/** Headers of the widget's page. Foreign images may come from `imageOrigins` only. */
export function pageHeaders(
  { imageOrigins, styleHashes = [] }: PageSources,
  framedBy = "'none'",
): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${["'self'", ...styleHashes].join(' ')}`,
    `img-src ${["'self'", ...imageOrigins].join(' ')}`,
    "media-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${framedBy}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]
  return {
    'content-security-policy': policy.join('; '),
    // For the Paste button of the page. The browser asks the shopper first.
    'permissions-policy': permissions(['clipboard-read']),
    'cache-control': 'no-store',
    // Connect to a distant image host while the page is still loading.
    link: imageOrigins.map((origin) => `<${origin}>; rel=preconnect`).join(', '),
  }
}
