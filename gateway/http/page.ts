/** The widget's page and its files. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { hashSchema } from '../../contract/widget-api.ts'
import type { Csrf } from './csrf.ts'
import { pageHeaders } from './headers.ts'

export type PageOptions = {
  /** The widget's build. It may still be running when the gateway starts. */
  folder: string
  mode: 'sandbox' | 'live'
  /** Facts about the operator that the page may show: attributes of its root element, without `data-`. */
  facts?: Record<string, string | undefined>
  imageOrigins: readonly string[]
  csrf: Csrf
}

const YEAR_MS = 365 * 86_400_000
const HOUR_MS = 3_600_000
const ASSET = /^\/assets\/[\w-]+(?:\.[\w-]+)*\.(?:js|css|svg|woff2|wav|mp3|png|webp)$/
const FILE = /^\/[\w-]+\.(?:svg|wav|mp3|webm|vtt|png|ico|txt|webmanifest)$/

/** Answers every GET outside the API: files of the build, the page on the widget's routes, else 404. */
export async function servePage(app: FastifyInstance, options: PageOptions): Promise<void> {
  await app.register(fastifyStatic, { root: options.folder, serve: false, preCompressed: true })
  const readPage = pageReader(options)
  const headers = pageHeaders(options.imageOrigins)

  app.get('/*', async (request, reply) => {
    const path = request.url.split('?')[0] ?? ''
    if (/^\/(?:api|v1)(?:\/|$)/.test(path)) return reply.callNotFound()
    if (ASSET.test(path)) return sendFile(reply, path, YEAR_MS)
    if (FILE.test(path)) return sendFile(reply, path, HOUR_MS)
    const page = readPage()
    if (page === undefined) return reply.code(503).type('text/plain').send('The page is still being built.\n')
    options.csrf.giveToken(request, reply)
    return reply
      .code(isRouteOfWidget(path, options.facts?.home !== undefined) ? 200 : 404)
      .headers(headers)
      .type('text/html; charset=utf-8')
      .send(page)
  })
}

/** The routes of the widget; any other is its 404 page. */
function isRouteOfWidget(path: string, hasHome: boolean): boolean {
  if (path === '/home') return hasHome
  if (['/', '/help'].includes(path)) return true
  return /^\/deposit\/[^/]+$/.test(path) || hashSchema.safeParse(path.slice(1)).success
}

function sendFile(reply: FastifyReply, path: string, maxAge: number): FastifyReply {
  return reply.sendFile(path.slice(1), { maxAge, immutable: maxAge === YEAR_MS })
}

/** The page of the last build, with the mode that it must show. Undefined before the first build. */
function pageReader({ folder, mode, facts = {} }: PageOptions): () => string | undefined {
  const file = join(folder, 'index.html')
  let cached: { html: string; mtimeMs: number } | undefined
  return () => {
    const mtimeMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs
    if (mtimeMs === undefined) return undefined
    if (cached?.mtimeMs !== mtimeMs) {
      const attributes = attributesOf({ ...facts, mode })
      const html = readFileSync(file, 'utf8').replace(/data-mode="\w*"/, () => attributes)
      cached = { html, mtimeMs }
    }
    return cached.html
  }
}

function attributesOf(facts: Record<string, string | undefined>): string {
  const given = Object.entries(facts).filter((fact): fact is [string, string] => fact[1] !== undefined)
  return given.map(([name, value]) => `data-${name}="${escapeAttribute(value)}"`).join(' ')
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '"': '&quot;', '<': '&lt;', '>': '&gt;' }

function escapeAttribute(value: string): string {
  return value.replace(/[&"<>]/g, (character) => ENTITIES[character] ?? '')
}
