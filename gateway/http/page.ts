import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Payment } from '../../contract/widget-api.ts'
import { systemClock } from '../kit/clock.ts'
import { HOUR_MS } from '../kit/duration.ts'
import { createLimiter } from '../kit/limiter.ts'
import type { Csrf } from './csrf.ts'
import { serveLoader } from './embed-loader.ts'
import type { EmbedTokens } from './embed-token.ts'
import { type Document, readDocument } from './first-paint.ts'
import { allowFraming, pageHeaders } from './headers.ts'
import { escapeHtml } from './html.ts'
import { pathOf } from './readable-path.ts'
import { refuse } from './refusal.ts'

export type PageOptions = {
  /** The folder of the widget's build. The build may still be under way when the gateway starts. */
  folder: string
  mode: 'sandbox' | 'live'
  facts?: PageFacts
  imageOrigins: readonly string[]
  csrf: Csrf
  embed?: Embed | undefined
  /**
   * The answer of GET /api/payment; undefined if it would be a refusal or would come too late. Without this function,
   * no page contains a payment.
   */
  shownPayment?(request: FastifyRequest, hash: string): Promise<Payment | undefined>
}

/** Settings for the page: attributes of its root element, without `data-`. */
export type PageFacts = Partial<
  Record<
    'demo-store' | 'support-email' | 'messenger-url' | 'guide-video' | 'home' | 'steam',
    string | undefined
  >
>

export type Embed = {
  tokens: EmbedTokens
  /** The origin whose pages may frame this deposit; undefined if there is none. */
  originOf(hash: string): Promise<string | undefined>
}

/**
 * The most database connections for framed pages, and the most such pages that wait for a connection. Limited, because
 * anyone can request framed pages.
 */
const LOOKUPS_AT_A_TIME = 2
const MOST_WAITING = 200
const FULL_RETRY_S = 1

const YEAR_MS = 365 * 86_400_000
const ASSET = /^\/assets\/[\w-]+(?:\.[\w-]+)*\.(?:js|css|svg|woff2|wav|mp3|png|webp)$/
const FILE = /^\/[\w-]+\.(?:svg|wav|mp3|webm|vtt|png|ico|txt|webmanifest)$/

/** Answers every GET that has no other route: with a file of the build, the widget's page, or an error. */
export async function servePage(app: FastifyInstance, options: PageOptions): Promise<void> {
  await app.register(fastifyStatic, { root: options.folder, serve: false, preCompressed: true })
  const readPage = pageReader(options)
  const readFramed = framedReader(options.embed)
  serveLoader(app)

  app.get('/*', async (request, reply) => {
    const path = pathOf(request.url)
    if (/^\/(?:api|v1)(?:\/|$)/.test(path)) return reply.callNotFound()
    if (ASSET.test(path)) return sendFile(reply, path, YEAR_MS)
    if (FILE.test(path)) return sendFile(reply, path, HOUR_MS)
    const page = readPage()
    if (page === undefined) return reply.code(503).type('text/plain').send('The page is still being built.\n')
    const route = routeIn(path)
    const isFrame = request.headers['sec-fetch-dest'] === 'iframe'
    const framed = isFrame ? await readFramed(route) : undefined
    if (framed === undefined) options.csrf.giveToken(request, reply)
    const hash = hashIn(route)
    const payment = hash === undefined ? undefined : await options.shownPayment?.(request, hash)
    reply
      .code(isRouteOfWidget(route, options.facts?.home !== undefined) ? 200 : 404)
      .headers(page.headers)
      .type('text/html; charset=utf-8')
    if (framed !== undefined) {
      const { imageOrigins } = options
      allowFraming(reply, { imageOrigins, styleHashes: page.styleHashes }, framed.origin)
    }
    return sendPage({ request, reply, page }, { payment, framed })
  })
}

/** The path without a slash at its end, which the widget ignores too. */
const routeIn = (path: string): string => path.replace(/\/$/, '')

/** The hash in the route of a deposit's page; undefined for other routes. */
const hashIn = (route: string): string | undefined => /^\/(?:deposit\/)?([0-9a-f]{32})$/.exec(route)?.[1]

type Framed = { origin: string; meta: string }

/** Looks up which origin may frame the deposit's page, and makes the token for it. Undefined if none may. */
function framedReader(embed: Embed | undefined) {
  const lookUp = createLimiter(LOOKUPS_AT_A_TIME, MOST_WAITING)
  return async (route: string): Promise<Framed | undefined> => {
    const hash = hashIn(route)
    if (embed === undefined || hash === undefined) return undefined
    if (lookUp.isFull()) refuse('overloaded', { retryAfterS: FULL_RETRY_S })
    const origin = await lookUp(() => embed.originOf(hash))
    if (origin === undefined) return undefined
    const token = embed.tokens.make({ hash, origin })
    const attributes = `content="${escapeHtml(token)}" data-origin="${escapeHtml(origin)}"`
    return { origin, meta: `<meta name="tradetill-embed" ${attributes}>` }
  }
}

type Sending = { request: FastifyRequest; reply: FastifyReply; page: Page }

type Page = Document & { headers: Record<string, string>; plainGzip: Buffer }

type Shown = { payment: Payment | undefined; framed: Framed | undefined }

/** Compresses the page, because it contains its styles: uncompressed, they cost half a second on a slow line. */
function sendPage({ request, reply, page }: Sending, { payment, framed }: Shown): FastifyReply {
  reply.header('vary', 'accept-encoding')
  const isPlain = payment === undefined && framed === undefined
  // The time must come from the clock of the Date header, as in the answers of the API.
  const whole = payment === undefined ? page.plain : page.withPayment(payment, systemClock.now())
  const html = framed === undefined ? whole : whole.replace('<head>', () => `<head>${framed.meta}`)
  if (!/\bgzip\b/.test(request.headers['accept-encoding']?.toString() ?? '')) return reply.send(html)
  return reply
    .header('content-encoding', 'gzip')
    .send(isPlain ? page.plainGzip : gzipSync(html, { level: GZIP_LEVEL }))
}

/**
 * A page with a payment or a frame token is compressed for each request. At its 14 KB, the highest level takes as long
 * as a middle one: half a millisecond.
 */
const GZIP_LEVEL = 9

/** True for the routes of the widget. Every other path shows its 404 page. */
function isRouteOfWidget(route: string, hasHome: boolean): boolean {
  if (route === '/home') return hasHome
  if (['', '/help'].includes(route)) return true
  // Also true for a wrong link: the widget has a page for it, which says that the payment was not found.
  return /^\/deposit\/[^/]+$/.test(route) || hashIn(route) !== undefined
}

function sendFile(reply: FastifyReply, path: string, maxAge: number): FastifyReply {
  return reply.sendFile(path.slice(1), { maxAge, immutable: maxAge === YEAR_MS })
}

/** The page of the last build, with the mode that it must show. Undefined before the first build. */
function pageReader({ folder, mode, facts = {}, imageOrigins }: PageOptions): () => Page | undefined {
  const file = join(folder, 'index.html')
  let cached: { page: Page; mtimeMs: number } | undefined
  return () => {
    const mtimeMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs
    if (mtimeMs === undefined) return undefined
    if (cached?.mtimeMs !== mtimeMs) {
      const attributes = attributesOf({ ...facts, mode })
      const html = readFileSync(file, 'utf8').replace(/data-mode="\w*"/, () => attributes)
      const document = readDocument(html, mode, facts.steam)
      const headers = pageHeaders({ imageOrigins, styleHashes: document.styleHashes })
      cached = { page: { ...document, headers, plainGzip: gzipSync(document.plain) }, mtimeMs }
    }
    return cached.page
  }
}

function attributesOf(facts: Record<string, string | undefined>): string {
  const present = Object.entries(facts).filter((fact): fact is [string, string] => fact[1] !== undefined)
  return present.map(([name, value]) => `data-${name}="${escapeHtml(value)}"`).join(' ')
}
