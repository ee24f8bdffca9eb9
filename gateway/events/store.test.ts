import { afterEach, beforeEach, expect, it } from 'vitest'
import { storeDepositOf } from '../deposits/store-deposit.ts'
import { aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { appendEvent, publishEvents } from './service.ts'
import { MOST_PAGE_BYTES, readEvents } from './store.ts'

let till: Till
let store: { id: bigint }

beforeEach(async () => {
  till = await startTill()
  store = await aStore(till)
})
afterEach(() => till.close())

/** Publishes events of a deposit whose metadata has this many bytes. */
async function publishSized(count: number, metadataBytes: number): Promise<void> {
  const deposit = await aDeposit(till, store)
  const data = await storeDepositOf(till.db, { depositId: deposit.id }, till.deps.publicUrl)
  if (data === undefined) throw new Error('the deposit is not there')
  const sized = { ...data, metadata: { note: 'ж'.repeat(metadataBytes / 2) } }
  await till.db.transaction().execute(async (tx) => {
    for (let part = 0; part < count; part += 1) {
      const event = { id: till.deps.ids.uuid(), storeId: store.id, depositId: deposit.id, part, data: sized }
      await appendEvent(tx, till.deps.queue, { ...event, type: 'deposit.pending', at: till.clock.now() })
    }
  })
  await publishEvents(till.deps)
}

async function readAll(limit: number) {
  const pages = []
  for (let after = 0; ; ) {
    const page = await readEvents(till.db, store.id, { after, limit })
    pages.push(page)
    after = page.next
    if (!page.hasMore) return pages
  }
}

it('pages of large events have fewer of them, so a slow store receives a whole page in time', async () => {
  await publishSized(120, 40_000)
  const pages = await readAll(500)
  for (const { events } of pages)
    expect(Buffer.byteLength(JSON.stringify(events))).toBeLessThanOrEqual(MOST_PAGE_BYTES)
  expect(pages.length).toBeGreaterThan(1)
  expect(pages.flatMap(({ events }) => events.map(({ sequence }) => sequence))).toEqual(
    Array.from({ length: 120 }, (_, index) => index + 1),
  )
})

it('a page has at least one event, however large', async () => {
  await publishSized(2, 2 * MOST_PAGE_BYTES)
  expect((await readAll(500)).map(({ events, hasMore }) => [events.length, hasMore])).toEqual([
    [1, true],
    [1, false],
  ])
})

it.each([59, 60, 61])(
  'a page with at most %i of 60 small events says whether there are more',
  async (limit) => {
    await publishSized(60, 10)
    const { events, next, hasMore } = await readEvents(till.db, store.id, { after: 0, limit })
    expect([events.length, next, hasMore]).toEqual([Math.min(limit, 60), Math.min(limit, 60), limit < 60])
  },
)
