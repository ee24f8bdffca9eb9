/** A stub of a till and of the Steam sandbox, for the store's tests. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { startStore } from './server.ts'

export const SECRET = `whsec_${Buffer.from('a secret of the demo store').toString('base64')}`
export const RECEIPT = 'http://localhost:4300/receipt/1001-fedcba9876543210fedcba9876543210'
export const URL_OF_DEPOSIT = 'http://localhost:4300/deposit/0123456789abcdef0123456789abcdef'

type Call = { authorization: string | undefined; body: Record<string, unknown> }
export type Stub = { url: string; server: Server; calls: Call[]; statuses: number[]; log: object[] }

export type Demo = {
  store: Awaited<ReturnType<typeof startStore>>
  till: Stub
  reports: string[]
  folder: string
  /** Starts a store on the same database, with the till at this address. Close the earlier store first. */
  open(tillUrl: string): Promise<void>
  end(): Promise<void>
}

/** Starts a demo store with the stub as its till and its sandbox. */
export async function startDemo(): Promise<Demo> {
  const folder = mkdtempSync(join(tmpdir(), 'demo-store-'))
  const reports: string[] = []
  const till = await startTill()
  const start = (url: string) =>
    startStore({
      port: 0,
      dataFile: join(folder, 'store.sqlite'),
      till: { url, apiKey: 'tt_test_key', webhookSecret: SECRET },
      sandboxUrl: till.url,
      report: (problem) => reports.push(problem),
    })
  const demo: Demo = {
    store: await start(till.url),
    till,
    reports,
    folder,
    async open(url) {
      demo.store = await start(url)
    },
    async end() {
      await demo.store.close()
      await new Promise((resolve) => till.server.close(resolve))
      rmSync(folder, { recursive: true })
    },
  }
  return demo
}

/**
 * Returns functions that call the store as a shopper (`press` posts the payment form, `readBalances` reads the balances,
 * `readParts` reads the parts of the page that update) and as the till (`send`).
 */
export const callersOf = (demo: Demo) => ({
  press: (form: Record<string, string> = {}, headers: Record<string, string> = {}) =>
    fetch(`${demo.store.url}/top-ups`, {
      method: 'POST',
      body: new URLSearchParams({ currency: 'USD', language: '', ...form }),
      headers,
      redirect: 'manual',
    }),
  send(event: TestEvent, change: (headers: Record<string, string>) => void = () => {}) {
    const { id = 'event-1', type = 'deposit.succeeded', sequence = 2, data = {} } = event
    const body = JSON.stringify(eventOf({ id, type, sequence, data }))
    const sentAt = new Date()
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
      'webhook-signature': new Webhook(SECRET).sign(id, sentAt, body),
    }
    change(headers)
    return fetch(`${demo.store.url}/webhooks/tradetill`, { method: 'POST', body, headers })
  },
  readBalances: async (): Promise<unknown> => (await fetch(`${demo.store.url}/balance.json`)).json(),
  readParts: async (): Promise<string> => (await fetch(`${demo.store.url}/live`)).text(),
})

/**
 * Starts the stub. Calls that open a deposit get the HTTP statuses in `statuses`, in order, and 201 when that list is
 * empty.
 */
async function startTill(): Promise<Stub> {
  const calls: Call[] = []
  const statuses: number[] = []
  const log: object[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    if (request.url === '/control/players') {
      response.end(
        JSON.stringify([
          {
            name: '<b>nova',
            tradeUrl: 'https://steamcommunity.com/tradeoffer/new/?partner=1&token=abc',
            line: 'Dota 2: 24 <i>',
          },
        ]),
      )
      return
    }
    if (request.url?.startsWith('/v1/events')) {
      const after = Number(new URL(request.url, 'http://x').searchParams.get('after'))
      // A page has at most two events, so the store must read several pages.
      const events = log.slice(after, after + 2)
      const next = after + events.length
      response.end(JSON.stringify({ events, next, hasMore: next < log.length }))
      return
    }
    const body = JSON.parse(Buffer.concat(chunks).toString())
    calls.push({ authorization: request.headers.authorization, body })
    response.statusCode = statuses.shift() ?? 201
    response.end(JSON.stringify(depositOf({ ...body, url: URL_OF_DEPOSIT })))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return { url: `http://127.0.0.1:${port}`, server, calls, statuses, log }
}

const depositOf = (more: Record<string, unknown>) => ({
  id: '1001',
  externalId: 'topup-1',
  url: URL_OF_DEPOSIT,
  status: 'created',
  currency: 'USD',
  amount: null,
  heldAmount: 0,
  heldUntil: null,
  reversedAmount: 0,
  chargedAmount: 0,
  endReason: null,
  createdAt: '2026-01-01T12:00:00.000Z',
  ...more,
})

export type TestEvent = { id?: string; type?: string; sequence?: number; data?: Record<string, unknown> }

export const eventOf = ({
  id = 'event-1',
  type = 'deposit.succeeded',
  sequence = 2,
  data = {},
}: TestEvent) => ({
  id,
  type,
  timestamp: new Date().toISOString(),
  sequence,
  data: depositOf({ status: 'succeeded', amount: 1250, ...data }),
})
