/** The script that puts a deposit into a page of its store. Stores' pages load it, with a hash of its bytes. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'

export const LOADER_PATH = '/embed/v1.js'

const SOURCE = readFileSync(join(import.meta.dirname, 'embed/v1.js'))
export const ZIPPED_LOADER = gzipSync(SOURCE, { level: 9 })

/** The value of the `integrity` attribute in a store's page. */
export const LOADER_INTEGRITY = `sha384-${createHash('sha384').update(SOURCE).digest('base64')}`

/**
 * The headers of the only answer that scripts of other origins may read. Without them, browsers cannot check its hash.
 */
const HEADERS = {
  'content-type': 'text/javascript; charset=utf-8',
  'cache-control': 'public, max-age=31536000, immutable',
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
  vary: 'accept-encoding',
}

export function serveLoader(app: FastifyInstance): void {
  app.get(LOADER_PATH, async (request, reply) => {
    reply.headers(HEADERS)
    if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(SOURCE)
    return reply.header('content-encoding', 'gzip').send(ZIPPED_LOADER)
  })
}
