import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { dirname } from 'node:path'
import { isOfDeposit, isTest, type Till } from '../sdk/index.ts'
import { type Books, openBooks } from './books.ts'
import { type CallNotes, openCallNotes } from './call-notes.ts'
import { CURRENCIES, GOODS, totalOf } from './goods.ts'
import { helpPage } from './pages/help.ts'
import { homePage } from './pages/home.ts'
import { messagePage, money } from './pages/layout.ts'
import { arrivedText, liveParts, missingAmount, type StoreView } from './pages/parts.ts'
import { payPage } from './pages/pay.ts'
import { startReconciling } from './reconcile.ts'
import { readPlayers } from './sandbox-players.ts'
import { LANGUAGES, type Language, TEXTS, type Texts } from './texts.ts'
import { createDeposit, openTill, readWebhook, type TillAccount } from './till.ts'
import { oneOf, settingsOf, visitorOf } from './visitor.ts'

export type StoreOptions = {
  /** 0 chooses a free port. */
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
  calls: CallNotes
  reconcile(): Promise<void>
}
type Reply = {
  status: number
  type?: string
  body?: string | Buffer
  location?: string
  cookies?: string[]
}
type Handler = (request: IncomingMessage, store: Store) => Promise<Reply> | Reply

const MOST_BODY_BYTES = 256 * 1024

const staticFile = (name: string, type: string): Reply => ({
  status: 200,
  type,
  body: readFileSync(new URL(`./static/${name}`, import.meta.url)),
})

const STATIC: Record<string, Reply> = {
  '/static/ember.css': staticFile('ember.css', 'text/css; charset=utf-8'),
  '/static/shop.css': staticFile('shop.css', 'text/css; charset=utf-8'),
  '/static/ember.js': staticFile('ember.js', 'text/javascript; charset=utf-8'),
  '/static/ember.svg': staticFile('ember.svg', 'image/svg+xml'),
  '/static/goods.svg': staticFile('goods.svg', 'image/svg+xml'),
}

const ROUTES: Record<string, Handler> = {
  'GET /': async (request, store) => {
    const language = oneOf(LANGUAGES, queryOf(request).get('lang'))
    if (language !== undefined) return keepLanguage(request, language)
    const players = await readPlayers(store.sandboxUrl)
    const view = viewFor(request, store)
    const { sandboxUrl } = store
    return html(200, homePage({ view, players, sandboxUrl, thanks: thanksFor(request, store) }))
  },
  'GET /pay': showPayment,
  'GET /help': (request) => html(200, helpPage(visitorOf(request))),
  'GET /live': (request, store) => html(200, liveParts(viewFor(request, store))),
  'GET /balance.json': (request, { books }) => json(books.balances(visitorOf(request).shopper)),
  'GET /books.json': (_request, { books }) =>
    json({ sequence: books.log.cursor(), total: books.total(), account: books.account() }),
  'POST /settings': async (request) => ({ ...HOME, cookies: settingsOf(await formOf(request)) }),
  'POST /cart': changeCart,
  'POST /purchases': buyWithBalance,
  'POST /reconcile': async (_request, store) => {
    await store.reconcile()
    return HOME
  },
  'POST /top-ups': startTopUp,
  'POST /webhooks/tradetill': takeWebhook,
}

const HOME: Reply = { status: 303, location: '/' }

/** Starts the store on 127.0.0.1. Rejects if the port is taken. */
export async function startStore({ port, dataFile, till: account, ...options }: StoreOptions) {
  if (dataFile !== ':memory:') mkdirSync(dirname(dataFile), { recursive: true })
  const books = openBooks(dataFile)
  const calls = openCallNotes()
  const till = openTill(account, calls.fetch)
  const reconciling = startReconciling({ till, books, report: options.report })
  const store: Store = { ...options, account, till, url: '', books, calls, reconcile: reconciling.now }
  const server = createServer((request, response) => {
    answer(request, store)
      .catch((error: unknown) => {
        store.report(`a call failed: ${error instanceof Error ? error.message : 'unknown error'}`)
        return message(request, 500, 'failed')
      })
      .then((reply) => send(response, reply, store))
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
  if (handler === undefined) return message(request, 404, 'lost')
  // In this header, a browser says which site a POST comes from. Posts from other sites are refused. The till's
  // webhooks have no such header.
  const site = method === 'POST' ? (request.headers['sec-fetch-site'] ?? 'same-origin') : 'same-origin'
  return site === 'same-origin' ? handler(request, store) : message(request, 403, 'foreign')
}

const queryOf = (request: IncomingMessage): URLSearchParams =>
  new URL(request.url ?? '/', 'http://store').searchParams

function viewFor(request: IncomingMessage, { books, calls }: Store): StoreView {
  const visitor = visitorOf(request)
  const { shopper } = visitor
  return {
    visitor,
    balances: books.balances(shopper),
    onHold: books.onHold(shopper),
    account: books.account(),
    topUps: books.recent(shopper),
    cart: books.cart(shopper),
    bought: books.bought(shopper),
    notes: calls.all(),
  }
}

/**
 * Saves the `lang` of the page's address in a cookie, and redirects to the address without `lang`. Otherwise a reload
 * would save it again.
 */
function keepLanguage(request: IncomingMessage, language: Language): Reply {
  const query = queryOf(request)
  query.delete('lang')
  return {
    status: 303,
    location: query.size > 0 ? `/?${query}` : '/',
    cookies: settingsOf(new URLSearchParams({ language })),
  }
}

/**
 * Returns a message for a shopper who comes back from a payment. The address has `paid` after a success in a frame of
 * our page, and `order` if the till sent the shopper back. Anyone can type an address, so the books decide.
 */
function thanksFor(request: IncomingMessage, { books }: Store): string | undefined {
  const visitor = visitorOf(request)
  const { shopper, language } = visitor
  const query = queryOf(request)
  const topUp = books.topUp(query.get('paid') ?? query.get('order') ?? '')
  if (topUp?.shopper !== shopper) return undefined
  const texts = TEXTS[language]
  if (topUp.amount === null) return query.has('paid') ? texts.notYet : undefined
  return { none: arrivedText(topUp, visitor), waiting: texts.heldBack, bought: texts.yours }[topUp.cart]
}

async function changeCart(request: IncomingMessage, { books }: Store): Promise<Reply> {
  const id = oneOf(
    GOODS.map((good) => good.id),
    (await formOf(request)).get('good'),
  )
  const by = oneOf(['more', 'less'], queryOf(request).get('by'))
  if (id !== undefined && by !== undefined) books.changeCart(visitorOf(request).shopper, id, by)
  return HOME
}

function buyWithBalance(request: IncomingMessage, { books }: Store): Reply {
  const { shopper, currency } = visitorOf(request)
  const goods = books.cart(shopper)
  const amount = totalOf(goods, currency)
  if (amount > 0) books.buy(shopper, currency, { goods, amount })
  return HOME
}

/** Opens a deposit at the till and sends the shopper there, or to our page with the deposit in a frame. */
async function startTopUp(request: IncomingMessage, store: Store): Promise<Reply> {
  const form = await formOf(request)
  const visitor = visitorOf(request)
  const { shopper } = visitor
  const currency = oneOf(CURRENCIES, form.get('currency')) ?? visitor.currency
  const externalId = `topup-${randomUUID()}`
  const goods = store.books.cart(shopper)
  const leftToPay = missingAmount({
    visitor: { ...visitor, currency },
    cart: goods,
    balances: store.books.balances(shopper),
  })
  /** The sandbox player whose button was pressed. */
  const player = form.get('play')
  const isForCart =
    leftToPay > 0 && totalOf(goods, currency) > 0 && (form.get('for') === 'cart' || player !== null)
  const isInFrame = form.get('where') === 'here'
  const players = player === null ? [] : await readPlayers(store.sandboxUrl)
  const tradeUrl = players?.find(({ name }) => name === player)?.tradeUrl
  const wants = isForCart ? { goods, amount: totalOf(goods, currency) } : undefined
  store.books.addTopUp({ externalId, shopper, currency, wants })
  const deposit = await createDeposit(
    store.till,
    {
      externalId,
      currency,
      language: oneOf(LANGUAGES, form.get('language')) ?? visitor.language,
      backToStoreUrl: `${store.url}/?order={EXTERNAL_ID}&lang={LANGUAGE}`,
      customerReference: shopper,
      customerLabel: shopper,
      ...(isForCart && { targetAmount: leftToPay }),
      ...(isInFrame && { embedOrigin: store.url }),
      ...(tradeUrl !== undefined && { tradeUrl }),
      ...(form.get('hold') === 'on' && { creditMode: 'on_release' as const }),
    },
    store.report,
  )
  if (deposit === undefined) return message(request, 502, 'closed')
  store.books.setDeposit(externalId, deposit)
  const payPath = `/pay?order=${encodeURIComponent(externalId)}`
  return { status: 303, location: isInFrame ? payPath : deposit.url }
}

function showPayment(request: IncomingMessage, store: Store): Reply {
  const view = viewFor(request, store)
  const topUp = store.books.topUp(queryOf(request).get('order') ?? '')
  if (topUp?.shopper !== view.visitor.shopper || topUp.url === null) return message(request, 404, 'lost')
  const { url, externalId } = topUp
  return html(200, payPage({ view, tillUrl: store.account.url, url, externalId }))
}

/** Answers 2xx only after the commit, because 2xx means that the store has saved the event. */
async function takeWebhook(request: IncomingMessage, store: Store): Promise<Reply> {
  const { books, account, report, calls } = store
  const webhook = await readWebhook(account, request.headers, await bodyOf(request))
  if (webhook === undefined) {
    report('a webhook was refused: its signature or form is invalid')
    calls.add({ from: 'till', what: 'webhook', outcome: 'refused', isGood: false, content: {} })
    return { status: 400 }
  }
  const note = { from: 'till', what: webhook.type, isGood: true, content: webhook } as const
  // A test webhook expects its challenge back.
  if (isTest(webhook)) {
    calls.add({ ...note, outcome: 'challenge' })
    return json({ challenge: webhook.data.challenge })
  }
  const change = isOfDeposit(webhook) ? await books.take(webhook) : undefined
  calls.add({ ...note, outcome: change === undefined ? 'no change' : changeText(change, webhook.data) })
  return { status: 204 }
}

/** Returns the change of the credit as text, such as `+$12.50`, or `saved` if it did not change. */
function changeText(change: number, data: object): string {
  const currency = String(Reflect.get(data, 'currency'))
  if (change === 0) return 'saved'
  return `${change > 0 ? '+' : '−'}${money(Math.abs(change), currency, 'en')}`
}

const formOf = async (request: IncomingMessage): Promise<URLSearchParams> =>
  new URLSearchParams(await bodyOf(request))

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > MOST_BODY_BYTES) throw new Error('the request body is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const json = (value: object): Reply => ({
  status: 200,
  type: 'application/json',
  body: JSON.stringify(value),
})

/** The names of the texts that have a title, such as `lost` for `lost` and `lostTitle`. */
type MessageName = { [Name in keyof Texts]: Name extends `${infer Part}Title` ? Part : never }[keyof Texts]

function message(
  request: IncomingMessage,
  status: number,
  name: Exclude<MessageName, 'pay' | 'help'>,
): Reply {
  const visitor = visitorOf(request)
  const texts = TEXTS[visitor.language]
  return html(status, messagePage(visitor, texts[`${name}Title`], texts[name]))
}

const html = (status: number, body: string): Reply => ({ status, type: 'text/html; charset=utf-8', body })

function send(response: ServerResponse, reply: Reply, { account }: Store): void {
  const { status, type, body, location, cookies } = reply
  const till = new URL(account.url).origin
  const policy = [
    "default-src 'none'",
    `script-src 'self' ${till}`,
    `frame-src ${till}`,
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    // The payment form is answered with a redirect to the till.
    `form-action 'self' ${till}`,
  ]
  response
    .writeHead(status, {
      'content-security-policy': policy.join('; '),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      ...(type && { 'content-type': type }),
      ...(location && { location }),
      ...(cookies && { 'set-cookie': cookies }),
    })
    .end(response.req.method === 'HEAD' ? undefined : body)
}
