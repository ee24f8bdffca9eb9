/** Serves the console's page: one document for all its URLs, without secrets. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import { pathOf } from '../http/readable-path.ts'
import { HOUR_MS } from '../kit/duration.ts'

const YEAR_MS = 365 * 86_400_000
const ASSET = /^\/assets\/[\w-]+(?:\.[\w-]+)*\.(?:js|css|svg|woff2)$/

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/** Browser features that the console uses, and those that it denies to itself. */
const ALLOWED = ['publickey-credentials-get', 'publickey-credentials-create', 'clipboard-write']
const DENIED = ['camera', 'clipboard-read', 'display-capture', 'geolocation', 'microphone', 'payment', 'usb']

export function addConsoleHeaders(app: FastifyInstance, { protocol }: URL): void {
  const permissions = [
    ...ALLOWED.map((feature) => `${feature}=(self)`),
    ...DENIED.map((feature) => `${feature}=()`),
  ]
  const headers: Record<string, string> = {
    'cache-control': 'no-store',
    'content-security-policy': POLICY,
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'origin-agent-cluster': '?1',
    'permissions-policy': permissions.join(', '),
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    ...(protocol === 'https:' && { 'strict-transport-security': `max-age=${YEAR_MS / 1_000}` }),
  }
  app.addHook('onSend', async (_request, reply) => {
    for (const [name, value] of Object.entries(headers)) if (!reply.hasHeader(name)) reply.header(name, value)
  })
}

type PageOptions = { folder: string; mode: 'sandbox' | 'live' }

export async function serveConsolePage(app: FastifyInstance, { folder, mode }: PageOptions): Promise<void> {
  await app.register(fastifyStatic, { root: folder, serve: false, preCompressed: true })
  const file = join(folder, 'index.html')
  app.get('/*', async (request, reply) => {
    const path = pathOf(request.url)
    if (path.startsWith('/ops/')) return reply.callNotFound()
    if (ASSET.test(path)) return reply.sendFile(path.slice(1), { maxAge: YEAR_MS, immutable: true })
    if (path === '/icon.svg') return reply.sendFile('icon.svg', { maxAge: HOUR_MS })
    if (statSync(file, { throwIfNoEntry: false }) === undefined) {
      return reply
        .code(503)
        .header('refresh', '2')
        .type('text/plain')
        .send('The console is still being built.\n')
    }
    const html = readFileSync(file, 'utf8').replace(/data-mode="\w*"/, `data-mode="${mode}"`)
    return reply.type('text/html; charset=utf-8').send(html)
  })
}
