/** GET /v1/openapi.json and /v1/reference: public, without a key. */
import { readFileSync } from 'node:fs'
import type { FastifyPluginAsync } from 'fastify'
import { lazily } from '../kit/lazily.ts'
import { openApiOf } from './openapi.ts'
import type { Operation } from './operation.ts'
import { referencePage } from './reference-page.ts'

const HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'",
  'cache-control': 'no-cache',
} as const

/** Makes the document when it is first requested. At each start, this would cost a tenth of a second. */
export function referenceRoutes(operations: readonly Operation[], publicUrl: string): FastifyPluginAsync {
  const document = lazily(() => openApiOf(operations, publicUrl))
  const json = lazily(() => JSON.stringify(document()))
  const page = lazily(() => referencePage(document()))
  const style = lazily(() => readFileSync(new URL('./reference.css', import.meta.url)))
  const files: [path: string, type: string, content: () => string | Buffer][] = [
    ['/v1/openapi.json', 'application/json; charset=utf-8', json],
    ['/v1/reference', 'text/html; charset=utf-8', page],
    ['/v1/reference.css', 'text/css; charset=utf-8', style],
  ]
  return async (app) => {
    for (const [path, type, content] of files)
      app.get(path, async (_request, reply) => reply.headers(HEADERS).type(type).send(content()))
  }
}
