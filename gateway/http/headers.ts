import type { FastifyInstance } from 'fastify'

const YEAR_S = 31_536_000

/** Features of browsers that no page of ours needs. */
const DENIED = [
  ...[
    'accelerometer',
    'bluetooth',
    'camera',
    'clipboard-read',
    'display-capture',
    'geolocation',
    'gyroscope',
  ],
  ...['hid', 'magnetometer', 'microphone', 'midi', 'payment', 'publickey-credentials-get', 'serial', 'usb'],
  'xr-spatial-tracking',
]

/** Headers of every answer. A page or a call replaces those that it knows better. */
function everyAnswer(publicUrl: URL): [name: string, value: string][] {
  return [
    ['x-content-type-options', 'nosniff'],
    ['referrer-policy', 'no-referrer'],
    ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
    ['x-frame-options', 'DENY'],
    ['cross-origin-resource-policy', 'same-origin'],
    ['cross-origin-opener-policy', 'same-origin'],
    ['permissions-policy', DENIED.map((feature) => `${feature}=()`).join(', ')],
    // Browsers ignore it over plain http, and must not learn it of a machine's own names.
    ...(publicUrl.protocol === 'https:'
      ? [['strict-transport-security', `max-age=${YEAR_S}`] satisfies [string, string]]
      : []),
  ]
}

/** 304 goes without: it repeats an answer that had them, and waiting pages poll for it every second. */
export function addHeaders(app: FastifyInstance, publicUrl: URL): void {
  const headers = everyAnswer(publicUrl)
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (reply.statusCode !== 304)
      for (const [name, value] of headers) if (!reply.hasHeader(name)) reply.header(name, value)
    done()
  })
}

/** An answer of the API must not be stored. */
export const API_HEADERS = { 'cache-control': 'no-store' } as const

/** Headers of the widget's page. It may show pictures from `imageOrigins`, and from nowhere else outside. */
export function pageHeaders(imageOrigins: readonly string[]): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${["'self'", ...imageOrigins].join(' ')}`,
    "media-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]
  return {
    'content-security-policy': policy.join('; '),
    'cache-control': 'no-store',
    // Connect to a distant host of pictures while the page itself is still loading.
    link: imageOrigins.map((origin) => `<${origin}>; rel=preconnect`).join(', '),
  }
}
