/**
 * No event is lost while webhooks fail in four ways and their sender is killed, and the demo store's books agree with
 * the ledger. In full: `PROOF_EVENTS=20000 npm test -- proofs/store/events`.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { eventually, freePorts, isServing, type Running, run } from '../../e2e/support/process.ts'
import type { BotContext } from '../../gateway/bots/bot.ts'
import { DEFAULT_FLEET_LIMITS } from '../../gateway/bots/fleet.ts'
import { publishEvents } from '../../gateway/events/service.ts'
import { balancesOf } from '../../gateway/ledger/store.ts'
import type { FakeSession } from '../../gateway/testing/fake-steam.ts'
import { payFor } from '../../gateway/testing/payment.ts'
import { type StoreApi, startStoreApi } from '../../gateway/testing/store-api.ts'
import { aBot, aDeposit, startTill, TEST_MASTER_KEY, type Till } from '../../gateway/testing/till.ts'
import { cancelDeposit } from '../../gateway/trades/cancellation.ts'
import { seededRandom } from '../random.ts'
import { type FlakyProxy, startFlakyProxy } from './flaky-proxy.ts'

const EVENTS = Number(process.env.PROOF_EVENTS ?? 100)
/** The till's master key, with which the API has sealed the secret of the webhooks. */
const KEY = TEST_MASTER_KEY.toString('hex')
/** The sender is killed after this many calls through the proxy. */
const KILL_EVERY_CALLS = EVENTS >= 2_000 ? 1_000 : 50
const WRITERS = 6
/** How many of ten deposits are paid. A paid deposit has two events, a cancelled one has one. */
const PAID_OF_TEN = 4

/** How long the store or a sender may take to start, and the first webhook to be dropped. */
const PATIENCE_MS = 120_000

vi.setConfig({ testTimeout: 600_000 + EVENTS * 60 })

let till: Till
let api: StoreApi
let bot: BotContext
let session: FakeSession
let proxy: FlakyProxy
let shop: Running
let shopUrl: string
let folder: string

const NO_ITEM_LIMITS = { cs: 1_000_000, dota: 1_000_000, rust: 1_000_000, tf: 1_000_000 }

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tradetill-events-'))
  till = await startTill()
  // One bot collects everything, so its limit of items is raised.
  till.deps.limits = { ...till.deps.limits, fleet: { ...DEFAULT_FLEET_LIMITS, itemsHeld: NO_ITEM_LIMITS } }
  api = await startStoreApi(till, { hasLimits: false })
  ;({ bot, session } = await aBot(till))
  const apiUrl = await api.app.listen({ host: '127.0.0.1', port: 0 })
  const [port = 0] = await freePorts(1)
  shopUrl = `http://127.0.0.1:${port}`
  proxy = await startFlakyProxy(`${shopUrl}/webhooks/tradetill`, seededRandom(11))
  const endpoint = await api.call('POST', '/v1/webhook-endpoints', { body: { url: proxy.url } })
  shop = run('demo-store/main.ts', {
    DEMO_STORE_PORT: String(port),
    DEMO_STORE_DATA: join(folder, 'shop.sqlite'),
    TRADETILL_URL: apiUrl,
    TRADETILL_API_KEY: api.key,
    TRADETILL_WEBHOOK_SECRET: endpoint.json().secret,
  })
  await eventually('the store answers', async () => (await isServing(shopUrl)) || undefined, PATIENCE_MS)
})
afterAll(async () => {
  await shop.interrupt()
  await proxy.close()
  await api.app.close()
  await till.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Pays or cancels deposits until they have caused at least this many events. */
async function makeEvents(events: number): Promise<void> {
  let eventsLeft = events
  let turn = 0
  const writer = async () => {
    while (eventsLeft > 0) {
      turn += 1
      const isPaid = turn % 10 < PAID_OF_TEN
      eventsLeft -= isPaid ? 2 : 1
      const deposit = await aDeposit(till, api.store)
      if (isPaid) await payFor(till, { bot, session }, deposit)
      else await cancelDeposit(till.deps, api.store.id, deposit.id)
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, writer))
}

const booksSchema = z.object({ sequence: z.number(), account: z.record(z.string(), z.number()) })

const readBooksOfShop = async () => booksSchema.parse(await (await fetch(`${shopUrl}/books.json`)).json())

const ledgerBalance = async () => {
  const [usd] = await balancesOf(till.db, api.store.id)
  return Number((usd?.held ?? 0n) + (usd?.available ?? 0n))
}

async function startSender(): Promise<Running> {
  const sender = run('proofs/store/sender.ts', {}, { args: [till.url, KEY] })
  const isReady = () => {
    if (sender.hasEnded()) throw new Error(sender.output())
    return sender.output().includes('sender ready') || undefined
  }
  await eventually('the sender runs', isReady, PATIENCE_MS)
  return sender
}

/** Runs the sender and kills it again and again until `isDone`. Resolves to the number of kills. */
async function withKilledSenders(isDone: () => Promise<boolean>): Promise<number> {
  let sender = await startSender()
  let callsAtKill = 0
  let kills = 0
  await eventually(
    'every webhook is delivered',
    async () => {
      if (proxy.calls - callsAtKill >= KILL_EVERY_CALLS) {
        await sender.kill()
        await passClaims()
        kills += 1
        callsAtKill = proxy.calls
        sender = await startSender()
      }
      return (await isDone()) || undefined
    },
    300_000 + EVENTS * 50,
  ).finally(() => sender.kill())
  return kills
}

/** Lets the claims of a dead sender expire. */
const passClaims = () => sql`update webhook_delivery set due_at = now() where state = 'due'`.execute(till.db)

const countOf = async (table: 'event' | 'webhook_delivery', state?: 'due' | 'failed') => {
  const rows = till.db.selectFrom(table).select((eb) => eb.fn.countAll<bigint>().as('count'))
  const selection = state === undefined ? rows : rows.where(sql<boolean>`state = ${state}`)
  return Number((await selection.executeTakeFirstOrThrow()).count)
}

test(`${EVENTS} events under failures and kills: none is lost or invented, and the books agree`, async () => {
  let isOver = false
  const makingEvents = makeEvents(EVENTS).finally(() => {
    isOver = true
  })
  const kills = await withKilledSenders(async () => {
    if (!isOver) return false
    const [events, deliveries, due] = [
      await countOf('event'),
      await countOf('webhook_delivery'),
      await countOf('webhook_delivery', 'due'),
    ]
    return events === deliveries && due === 0
  })
  await makingEvents
  expect(kills).toBeGreaterThan(0)
  expect(await countOf('webhook_delivery', 'failed')).toBe(0)
  const events = await till.db.selectFrom('event').select(['id', 'sequence']).orderBy('sequence').execute()
  expect(events.map(({ sequence }) => Number(sequence))).toEqual(events.map((_, index) => index + 1))
  const ids = new Set(events.map(({ id }) => id))
  expect(events.length).toBeGreaterThanOrEqual(EVENTS)
  expect(events.filter(({ id }) => !proxy.accepted.has(id))).toEqual([])
  expect([...proxy.accepted.keys()].filter((id) => !ids.has(id))).toEqual([])
  for (const kind of ['status', 'silence', 'reset', 'redirect'] as const)
    expect(proxy.failuresByKind[kind]).toBeGreaterThan(0)
  // The proxy makes about three of ten calls fail.
  expect(proxy.failures / proxy.calls).toBeGreaterThan(0.2)
  expect((await readBooksOfShop()).account.USD).toBe(await ledgerBalance())
  expect(await ledgerBalance()).toBeGreaterThan(0)
  console.log({
    events: events.length,
    calls: proxy.calls,
    failures: proxy.failures,
    ...proxy.failuresByKind,
    kills,
  })
})

test('the event log alone is enough for the store’s books if every webhook is dropped', async () => {
  const booksBefore = await readBooksOfShop()
  proxy.drop()
  await makeEvents(Math.ceil(EVENTS / 10))
  await publishEvents(till.deps)
  const sender = await startSender()
  const isDropped = () => proxy.dropped > 0 || undefined
  await eventually('a webhook is dropped', isDropped, PATIENCE_MS).finally(() => sender.kill())
  expect(await readBooksOfShop()).toMatchObject({ account: booksBefore.account })
  await fetch(`${shopUrl}/reconcile`, { method: 'POST', redirect: 'manual' })
  const booksAfter = await readBooksOfShop()
  expect(booksAfter.account.USD).toBe(await ledgerBalance())
  expect(booksAfter.account.USD).toBeGreaterThan(booksBefore.account.USD ?? 0)
  expect(booksAfter.sequence).toBe(await countOf('event'))
})
