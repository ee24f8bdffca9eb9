import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EventType } from '../../contract/event-types.ts'
import { openDatabase } from '../db/client.ts'
import { storeDepositOf } from '../deposits/store-deposit.ts'
import { aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { expiredDeposit } from '../testing/webhooks.ts'
import { appendEvent, publishEvents } from './service.ts'
import { readEvents } from './store.ts'

let till: Till
let store: { id: bigint }

beforeEach(async () => {
  till = await startTill()
  store = await aStore(till, { webhookUrl: 'http://127.0.0.1:9/' })
})
afterEach(() => till.close())

const sequences = async (storeId: bigint) => {
  const rows = await till.db
    .selectFrom('event')
    .select('sequence')
    .where('store_id', '=', storeId)
    .orderBy('sequence')
    .execute()
  return rows.map((row) => row.sequence)
}

describe('sequences of events', () => {
  it('are read in order and without gaps while 32 writers commit out of order', async () => {
    const writerCount = 32
    const rounds = 8
    const deposits = await Promise.all(Array.from({ length: writerCount }, () => aDeposit(till, store)))
    const data = await storeDepositOf(till.db, { depositId: deposits[0]?.id ?? 0n }, 'http://till.test')
    if (data === undefined) throw new Error('the deposit is not there')
    /** Writers have connections of their own, so publishers never wait for one. */
    const writersDb = openDatabase(till.url, writerCount)
    let isWriting = true
    const write = async ({ id }: { id: bigint }, part: number) => {
      await writersDb.db.transaction().execute(async (tx) => {
        const event = { id: till.deps.ids.uuid(), storeId: store.id, depositId: id, part, data }
        await appendEvent(tx, till.deps.queue, { ...event, type: 'deposit.pending', at: till.clock.now() })
        // The event has its identity number (`inserted`) now. Up to 22 queries delay its commit, so events with
        // later identity numbers are committed first.
        for (let queries = (Number(id) * 7 + part * 5) % 23; queries > 0; queries -= 1)
          await sql`select 1`.execute(tx)
      })
    }
    const writers = Promise.all(
      deposits.map(async (deposit) => {
        for (let part = 0; part < rounds; part += 1) await write(deposit, part)
      }),
    ).finally(() => {
      isWriting = false
    })
    const readSequences: number[] = []
    while (isWriting || readSequences.length < writerCount * rounds) {
      await Promise.all([publishEvents(till.deps), publishEvents(till.deps)])
      const { events } = await readEvents(till.db, store.id, { after: readSequences.at(-1) ?? 0, limit: 50 })
      readSequences.push(...events.map((event) => event.sequence))
    }
    await writers
    await writersDb.close()
    expect(readSequences).toEqual(Array.from({ length: writerCount * rounds }, (_, index) => index + 1))
  })

  it('have no gaps within a store under concurrent writers and publishers', async () => {
    const otherStore = await aStore(till)
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        await expiredDeposit(till, index % 2 === 0 ? store : otherStore)
        await publishEvents(till.deps)
      }),
    )
    await publishEvents(till.deps)
    const oneToTen = Array.from({ length: 10 }, (_, index) => BigInt(index + 1))
    expect(await sequences(store.id)).toEqual(oneToTen)
    expect(await sequences(otherStore.id)).toEqual(oneToTen)
    // Only the first store has an endpoint.
    expect(await till.db.selectFrom('webhook_delivery').select('event_id').execute()).toHaveLength(10)
  })

  it('include the event of a slow transaction, which does not delay other events', async () => {
    const [slow, quick] = [await aDeposit(till, store), await aDeposit(till, store)]
    const record = async (tx: Parameters<typeof appendEvent>[0], depositId: bigint): Promise<void> => {
      const data = await storeDepositOf(tx, { depositId }, till.deps.publicUrl)
      if (data === undefined) throw new Error('the deposit is not there')
      const type: EventType = 'deposit.pending'
      const at = till.clock.now()
      const event = { id: till.deps.ids.uuid(), storeId: store.id, depositId, type, data, at }
      await appendEvent(tx, till.deps.queue, event)
    }
    await till.db.transaction().execute(async (tx) => {
      await record(tx, slow.id)
      await till.db.transaction().execute((quickTx) => record(quickTx, quick.id))
      await publishEvents(till.deps)
      expect(await sequences(store.id)).toContain(1n)
    })
    await publishEvents(till.deps)
    expect(await sequences(store.id)).toEqual([1n, 2n])
    const first = await till.db
      .selectFrom('event')
      .select('deposit_id')
      .where('sequence', '=', 1n)
      .executeTakeFirst()
    expect(first?.deposit_id).toBe(quick.id)
  })
})
