/** GET /v1/openapi.json and /v1/reference: public, without a key. */
import { readFileSync } from 'node:fs'
import type { FastifyPluginAsync } from 'fastify'
import { openApiOf } from './openapi.ts'
import type { Operation } from './operation.ts'
import { referencePage } from './reference-page.ts'

const HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'",
  'cache-control': 'no-cache',
} as const

export function referenceRoutes(operations: readonly Operation[], publicUrl: string): FastifyPluginAsync {
  return async (app) => {
    const document = openApiOf(operations, publicUrl)
    const files: [path: string, type: string, content: string | Buffer][] = [
      ['/v1/openapi.json', 'application/json; charset=utf-8', JSON.stringify(document)],
      ['/v1/reference', 'text/html; charset=utf-8', referencePage(document)],
      [
        '/v1/reference.css',
        'text/css; charset=utf-8',
        readFileSync(new URL('./reference.css', import.meta.url)),
      ],
    ]
    for (const [path, type, content] of files) {
      app.get(path, async (_request, reply) => reply.headers(HEADERS).type(type).send(content))
    }
  }
}
