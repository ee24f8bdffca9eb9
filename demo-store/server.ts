import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { dirname } from 'node:path'
import { isOfDeposit, isTest, type Till } from '../sdk/index.ts'
import { type Books, openBooks } from './books.ts'
import { CURRENCIES, homePage, LANGUAGES, liveParts, messagePage } from './pages.ts'
import { startReconciling } from './reconcile.ts'
import { readPlayers } from './sandbox-players.ts'
import { SHOPPERS, shopperCookie, shopperOf } from './shoppers.ts'
import { createDeposit, openTill, readWebhook, type TillAccount } from './till.ts'

export type StoreOptions = {
  /** 0 takes a free one. */
  port: number
  /** Path of the store's database, or `:memory:`. */
  dataFile: string
  till: TillAccount
  sandboxUrl: string
  report(problem: string): void
}

type Store = Omit<StoreOptions, 'port' | 'dataFile' | 'till'> & {
  url: string
  account: TillAccount
  till: Till
  books: Books
  reconcile(): Promise<void>
}
type Reply = { status: number; type?: string; body?: string | Buffer; location?: string; cookie?: string }
type Handler = (request: IncomingMessage, store: Store) => Promise<Reply> | Reply

const MOST_BODY_BYTES = 256 * 1024

const staticFile = (name: string, type: string): Reply => ({
  status: 200,
  type,
  body: readFileSync(new URL(`./static/${name}`, import.meta.url)),
})

const STATIC: Record<string, Reply> = {
  '/static/ember.css': staticFile('ember.css', 'text/css; charset=utf-8'),
  '/static/ember.js': staticFile('ember.js', 'text/javascript; charset=utf-8'),
  '/static/ember.svg': staticFile('ember.svg', 'image/svg+xml'),
}

const ROUTES: Record<string, Handler> = {
  'GET /': async (request, { books, sandboxUrl }) => {
    const players = await readPlayers(sandboxUrl)
    return html(200, homePage({ ...shownTo(request, books), players }))
  },
  'GET /live': (request, { books }) => html(200, liveParts(shownTo(request, books))),
  'GET /balance.json': (request, { books }) => json(books.balances(shopperOf(request))),
  'GET /books.json': (_request, { books }) =>
    json({ position: books.position(), total: books.total(), account: books.account() }),
  'POST /shopper': chooseShopper,
  'POST /reconcile': checkWithTill,
  'POST /top-ups': startTopUp,
  'POST /webhooks/tradetill': takeWebhook,
}

/** Starts the store on 127.0.0.1. Rejects if the port is taken. */
export async function startStore({ port, dataFile, till: account, ...options }: StoreOptions) {
  if (dataFile !== ':memory:') mkdirSync(dirname(dataFile), { recursive: true })
  const books = openBooks(dataFile)
  const till = openTill(account)
  const reconciling = startReconciling({ till, books, report: options.report })
  const store: Store = { ...options, account, till, url: '', books, reconcile: reconciling.now }
  const server = createServer((request, response) => {
    answer(request, store)
      .catch((error: unknown) => {
        store.report(`a call failed: ${error instanceof Error ? error.message : 'unknown error'}`)
        return html(500, messagePage('Something went wrong', 'Nothing was lost. Try again in a moment.'))
      })
      .then((reply) => give(response, reply, store))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const address = server.address()
  store.url = `http://localhost:${typeof address === 'object' && address ? address.port : port}`
  return {
    url: store.url,
    async close() {
      await reconciling.stop()
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
      store.books.close()
    },
  }
}

async function answer(request: IncomingMessage, store: Store): Promise<Reply> {
  const path = (request.url ?? '/').split('?')[0] ?? '/'
  const method = request.method === 'HEAD' ? 'GET' : request.method
  const file = method === 'GET' && Object.hasOwn(STATIC, path) ? STATIC[path] : undefined
  if (file) return file
  const key = `${method} ${path}`
  const handler = Object.hasOwn(ROUTES, key) ? ROUTES[key] : undefined
  return handler
    ? handler(request, store)
    : html(404, messagePage('Page not found', 'There is nothing at this address.'))
}

const shownTo = (request: IncomingMessage, books: Books) => {
  const shopper = shopperOf(request)
  return {
    shopper,
    balances: books.balances(shopper),
    onHold: books.onHold(shopper),
    account: books.account(),
    topUps: books.recent(shopper),
  }
}

/** Refuses everything that a foreign page makes a browser post. */
function refuseForeign(request: IncomingMessage): Reply | undefined {
  const from = request.headers['sec-fetch-site']
  if (from === undefined || from === 'same-origin') return undefined
  return html(403, messagePage('Not from here', 'Press the button on our own page.'))
}

async function chooseShopper(request: IncomingMessage): Promise<Reply> {
  const refused = refuseForeign(request)
  if (refused) return refused
  const wanted = new URLSearchParams(await bodyOf(request)).get('shopper')
  const shopper = SHOPPERS.find((known) => known === wanted) ?? shopperOf(request)
  return { status: 303, location: '/', cookie: shopperCookie(shopper) }
}

/** The news that webhooks should have brought, read from the till's own log. */
async function checkWithTill(request: IncomingMessage, store: Store): Promise<Reply> {
  const refused = refuseForeign(request)
  if (refused) return refused
  await store.reconcile()
  return { status: 303, location: '/' }
}

/** Opens a deposit at the till and sends the shopper there. */
async function startTopUp(request: IncomingMessage, store: Store): Promise<Reply> {
  const refused = refuseForeign(request)
  if (refused) return refused
  const shopper = shopperOf(request)
  const form = new URLSearchParams(await bodyOf(request))
  const currency = CURRENCIES.find((known) => known === form.get('currency')) ?? 'USD'
  const language = LANGUAGES.find((known) => known === form.get('language'))
  const externalId = `topup-${randomUUID()}`
  store.books.begin({ externalId, shopper, currency })
  const backToStoreUrl = `${store.url}/`
  const wanted = {
    externalId,
    currency,
    backToStoreUrl,
    customerReference: shopper,
    customerLabel: shopper,
    ...(language && { language }),
    ...(form.get('hold') === 'on' && { creditMode: 'on_release' as const }),
  }
  const deposit = await createDeposit(store.till, wanted, store.report)
  if (deposit === undefined) {
    const text =
      'The till for game items does not answer right now. Your balance is as it was. Try again in a minute.'
    return html(502, messagePage('Top-ups are closed for a moment', text))
  }
  store.books.opened(externalId, deposit.url)
  return { status: 303, location: deposit.url }
}

/** 2xx means that the event is ours for good: it is answered after the commit only. */
async function takeWebhook(request: IncomingMessage, { books, account, report }: Store): Promise<Reply> {
  const webhook = await readWebhook(account, request.headers, await bodyOf(request))
  if (webhook === undefined) {
    report('a webhook was refused: its signature or form is not right')
    return { status: 400 }
  }
  // A test of this address wants its challenge back.
  if (isTest(webhook)) return json({ challenge: webhook.data.challenge })
  if (isOfDeposit(webhook)) books.take(webhook)
  return { status: 204 }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > MOST_BODY_BYTES) throw new Error('a body is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const json = (value: object): Reply => ({
  status: 200,
  type: 'application/json',
  body: JSON.stringify(value),
})

const html = (status: number, body: string): Reply => ({ status, type: 'text/html; charset=utf-8', body })

function give(response: ServerResponse, reply: Reply, { account }: Store): void {
  const { status, type, body, location, cookie } = reply
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    // The top-up's form is answered with a redirect to the till.
    `form-action 'self' ${new URL(account.url).origin}`,
  ]
  response
    .writeHead(status, {
      'content-security-policy': policy.join('; '),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      ...(type && { 'content-type': type }),
      ...(location && { location }),
      ...(cookie && { 'set-cookie': cookie }),
    })
    .end(response.req.method === 'HEAD' ? undefined : body)
}
