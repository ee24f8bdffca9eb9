/** A store's webhook handler that follows the documents, or makes one of the mistakes that stores make. */
import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { z } from 'zod'
import { SECRET } from './webhooks.ts'

export const FLAWS = [
  'checks no signature',
  'ignores the signed time',
  'reads the first signature only',
  'verifies the parsed body instead of the raw one',
  'accepts only small bodies',
  'credits each delivery',
  'credits each event',
  'never updates a credit',
  'ignores the order of events',
  'forgets reversals',
  'deducts only what the store is charged',
  'refuses unknown types',
  'takes back the credit of a lost payment',
  'refuses unknown fields',
  'checks for repeats without a lock',
  'does not lock a deposit before saving it',
  'ignores a late success',
  'credits open offers',
  'ignores the currency',
  'ignores the challenge',
  'adds more than a kilobyte to the challenge',
  'credits a test of its address',
  'never reads the log',
  'stops at other types in the log',
] as const

export type Flaw = (typeof FLAWS)[number]

const deposit = z.looseObject({
  id: z.string(),
  currency: z.string(),
  status: z.string(),
  amount: z.number().nullable(),
  heldAmount: z.number(),
  reversedAmount: z.number(),
  chargedAmount: z.number(),
  trade: z.looseObject({ items: z.array(z.object({ price: z.number() })) }).nullable(),
})
const eventSchema = z.looseObject({ id: z.string(), type: z.string(), sequence: z.number(), data: deposit })
const envelopeSchema = z.looseObject({ type: z.string(), data: z.looseObject({}) })

type Event = z.infer<typeof eventSchema>
type Entry = Pick<Event, 'sequence'> & Event['data']

/**
 * How long an unlocked write waits for a second one about the same event or deposit: at least this time, and at least
 * this many turns of the event loop.
 */
const WRITE_MS = 30
const WRITE_TURNS = 500

const KNOWN_FIELDS = ['id', 'type', 'timestamp', 'sequence', 'data']

/** Starts the handler. With `tillPort`, it reads the event log there until `close`. */
export async function startStoreHandler({ flaw, tillPort }: { flaw?: Flaw; tillPort?: number } = {}) {
  const books = createBooks(flaw)
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.url === '/balance') return void response.end(String(books.balance()))
    const body = await textOf(request)
    if (flaw === 'accepts only small bodies' && Buffer.byteLength(body) > 16 * 1024)
      return void response.writeHead(413).end()
    if (!isGenuine(flaw, request, body)) return void response.writeHead(400).end()
    const event = envelopeSchema.parse(JSON.parse(body))
    if (event.type === 'webhook.test' && flaw !== 'ignores the challenge') {
      if (flaw === 'credits a test of its address') books.credit(100)
      const note = flaw === 'adds more than a kilobyte to the challenge' ? 'x'.repeat(1_024) : undefined
      return void response.writeHead(200).end(JSON.stringify({ challenge: event.data.challenge, note }))
    }
    const isDepositEvent = event.type.startsWith('deposit.')
    if (!isDepositEvent && flaw === 'refuses unknown types') return void response.writeHead(400).end()
    if (flaw === 'refuses unknown fields' && Object.keys(event).some((key) => !KNOWN_FIELDS.includes(key))) {
      return void response.writeHead(422).end()
    }
    if (isDepositEvent) await books.record(eventSchema.parse(event))
    response.writeHead(204).end()
  }
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.writeHead(500).end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const origin = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
  const stopReading = tillPort === undefined ? () => {} : readLog(books, tillPort, flaw)
  return {
    url: `${origin}/webhooks`,
    balanceUrl: `${origin}/balance`,
    async close() {
      stopReading()
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

type Books = ReturnType<typeof createBooks>

function createBooks(flaw: Flaw | undefined) {
  const entries = new Map<string, Entry>()
  const seen = new Set<string>()
  /** The saved state of each deposit, for a store that changes one balance by the difference. */
  const settled = new Map<string, Entry>()
  /** The balance of a store that adds up amounts or differences instead of computing it from `entries`. */
  let counted = 0
  const writes = new Map<string, number>()
  /** Waits until another write has begun for this event or deposit, but not forever. */
  const writeSlowly = async (id: string): Promise<void> => {
    writes.set(id, (writes.get(id) ?? 0) + 1)
    const end = performance.now() + WRITE_MS
    for (let turn = 0; (writes.get(id) ?? 0) < 2; turn += 1) {
      if (turn >= WRITE_TURNS && performance.now() >= end) return
      await setImmediate()
    }
  }
  const creditOf = ({ amount, heldAmount, reversedAmount, chargedAmount }: Event['data']): number => {
    const taken = flaw === 'deducts only what the store is charged' ? chargedAmount : reversedAmount
    return (amount ?? 0) - heldAmount - (flaw === 'forgets reversals' ? 0 : taken)
  }
  const isNewer = (known: Entry | undefined, event: Event): boolean => {
    if (known === undefined) return true
    if (flaw === 'never updates a credit') return false
    if (flaw === 'ignores the order of events') return true
    if (flaw === 'ignores a late success')
      return known.status === 'succeeded' && event.sequence > known.sequence
    return event.sequence > known.sequence
  }
  const sum = (): number =>
    [...entries.values()]
      .filter(({ currency }) => currency === 'USD' || flaw === 'ignores the currency')
      .reduce((total, entry) => total + creditOf(entry), 0)
  return {
    balance: () => counted + sum(),
    credit(amount: number): void {
      counted += amount
    },
    async record(event: Event): Promise<void> {
      const { amount, trade, status } = event.data
      if (flaw === 'does not lock a deposit before saving it') {
        const before = settled.get(event.data.id)
        if (before === undefined) await writeSlowly(event.data.id)
        if (amount === null || seen.has(event.id) || !isNewer(before, event)) return
        seen.add(event.id)
        settled.set(event.data.id, { ...event.data, sequence: event.sequence })
        const change = creditOf(event.data) - (before === undefined ? 0 : creditOf(before))
        if (event.data.currency === 'USD') counted += change
        return
      }
      if (flaw === 'credits each delivery' || flaw === 'checks for repeats without a lock') {
        const isKnown = seen.has(event.id)
        if (flaw === 'checks for repeats without a lock') await writeSlowly(event.id)
        if (flaw === 'checks for repeats without a lock' && isKnown) return
        seen.add(event.id)
        if (event.type === 'deposit.succeeded') counted += amount ?? 0
        return
      }
      if (flaw === 'credits each event') {
        if (!seen.has(event.id)) counted += amount ?? 0
        seen.add(event.id)
        return
      }
      const offered = (trade?.items ?? []).reduce((total, { price }) => total + price, 0)
      const data = flaw === 'credits open offers' ? { ...event.data, amount: amount ?? offered } : event.data
      const countsUnpaid =
        flaw === 'credits open offers' || flaw === 'takes back the credit of a lost payment'
      const isCounted = amount !== null || countsUnpaid
      if (!isCounted && !(flaw === 'ignores a late success' && status !== 'pending')) return
      if (isNewer(entries.get(data.id), event)) entries.set(data.id, { ...data, sequence: event.sequence })
    },
  }
}

function isGenuine(flaw: Flaw | undefined, request: IncomingMessage, body: string): boolean {
  if (flaw === 'checks no signature') return true
  const header = (name: string) => String(request.headers[name] ?? '')
  const [id, timestamp, signature] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(header)
  if (flaw === 'ignores the signed time' || flaw === 'reads the first signature only') {
    const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64')
    const expected = `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
    if (flaw === 'ignores the signed time') return signature?.split(' ').includes(expected) ?? false
    const isNow = Math.abs(Date.now() / 1000 - Number(timestamp)) < 300
    return isNow && signature?.split(' ')[0] === expected
  }
  try {
    const signedBody =
      flaw === 'verifies the parsed body instead of the raw one' ? JSON.stringify(JSON.parse(body)) : body
    new Webhook(SECRET).verify(signedBody, {
      'webhook-id': id ?? '',
      'webhook-timestamp': timestamp ?? '',
      'webhook-signature': signature ?? '',
    })
    return true
  } catch {
    return false
  }
}

const pageSchema = z.object({ events: z.array(z.looseObject({ type: z.string() })), next: z.number() })
const READ_EVERY_MS = 20

function readLog(books: Books, tillPort: number, flaw: Flaw | undefined): () => void {
  let after = 0
  const read = async (): Promise<void> => {
    const answer = await fetch(`http://127.0.0.1:${tillPort}/v1/events?after=${after}`)
    const { events, next } = pageSchema.parse(await answer.json())
    const isRead = ({ type }: { type: string }) =>
      flaw === 'stops at other types in the log' || type.startsWith('deposit.')
    if (flaw !== 'never reads the log')
      for (const event of events.filter(isRead)) await books.record(eventSchema.parse(event))
    after = next
  }
  // The till may not have started yet, or may have stopped. The next read tries again.
  const timer = setInterval(() => void read().catch(() => {}), READ_EVERY_MS)
  return () => clearInterval(timer)
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
