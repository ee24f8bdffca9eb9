import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { renewLease, takeLeases } from '../bots/lease-store.ts'
import { publishEvents } from '../events/service.ts'
import { lockPublishing } from '../events/store.ts'
import { systemIds } from '../kit/ids.ts'
import { runCommand } from '../testing/command.ts'
import { type StoreApi, startStoreApi } from '../testing/store-api.ts'
import { aBot, aDeposit, anEndpoint, jump, startTill, type Till } from '../testing/till.ts'
import { claimDue, expiredDeposit } from '../testing/webhooks.ts'
import { createMemory, type Memory } from './memory.ts'
import { type EpochDeps, startEpoch, watchEpoch } from './service.ts'

let till: Till
let api: StoreApi
let folder: string
let gauge: number
let nowMs: number
const failures: unknown[] = []

beforeEach(async () => {
  till = await startTill()
  api = await startStoreApi(till)
  folder = mkdtempSync(join(tmpdir(), 'tradetill-epochs-'))
  gauge = 0
  nowMs = 0
  failures.length = 0
})
afterEach(async () => {
  await api.app.close()
  await till.close()
  rmSync(folder, { recursive: true, force: true })
})

const memory = (): Memory => createMemory(folder, (error) => failures.push(error))

const watch = (change: Partial<EpochDeps> = {}) =>
  watchEpoch({
    ...till.deps,
    memory: memory(),
    afterFailover: 'stop',
    monotonicMs: () => nowMs,
    gauge: {
      set: (value) => {
        gauge = value
      },
    },
    ...change,
  })

/** Changes what the database recorded about its server, so the server looks like another one. */
const changeRecord = (change: string) => sql`update epoch set ${sql.raw(change)}`.execute(till.db)
/** Makes the server's timeline newer than the recorded one, as the promotion of a replica does. */
const promote = () => changeRecord('timeline = timeline - 1')

const errorsOf = (lines: readonly string[]) => lines.filter((line) => line.includes('"level":"error"'))
const eventsAfter = (after: number) => api.call('GET', `/v1/events?after=${after}`)
const openDeposit = (externalId: string) =>
  api.call('POST', '/v1/deposits', {
    body: { externalId, currency: 'USD', backToStoreUrl: 'https://store.test/' },
  })
const finish = (...args: string[]) =>
  runCommand(['restore', 'finish', '--reason', 'restored', '--json', ...args], { databaseUrl: till.url })

/** The SQLSTATE of writes that triggers refuse after a restore, until the next epoch. */
const BETWEEN_EPOCHS = 'TT001'

/** Resolves to the number of the wish. */
async function makeWish(botId: bigint): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    insert into wish (kind, bot_id, destination, asked_by) values ('send', ${botId}, 'storage', 'rule')
    returning id::int`.execute(till.db)
  return rows[0]?.id ?? 0
}

async function publish(count: number): Promise<void> {
  for (let number = 0; number < count; number += 1) await expiredDeposit(till, api.store)
  await publishEvents(till.deps)
}

describe('D-37 a till whose database was restored or replaced', () => {
  test.each([
    ['system', "system_identifier = '1'"],
    ['database', 'database_oid = 1'],
    ['database', 'log_oid = 1'],
    ['timeline', 'timeline = timeline - 1'],
  ])('stops for the reason %s after the change %s of its record', async (reason, change) => {
    const epochs = watch()
    // The first check begins the first epoch, and the second one compares.
    await epochs.check()
    await epochs.check()
    expect(epochs.whyStopped()).toBeUndefined()
    await changeRecord(change)
    await epochs.check()
    expect([epochs.whyStopped(), gauge]).toEqual([reason, 1])
  })

  test('publishes no event, opens no deposit, begins no trade, makes no wish and leases no bot, even before a gateway notices', async () => {
    await watch().check()
    const deposit = await aDeposit(till, api.store)
    const { bot } = await aBot(till)
    await till.db.updateTable('bot').set({ lease_until: null }).execute()
    const [lease] = await takeLeases(till.db, systemIds.uuid(), 1)
    if (lease === undefined) throw new Error('no bot was free')
    await expiredDeposit(till, api.store)
    await promote()
    await expect(publishEvents(till.deps)).rejects.toMatchObject({ code: BETWEEN_EPOCHS })
    expect((await openDeposit('order-2')).json()).toMatchObject({ status: 503, code: 'technical_works' })
    const intent = sql`insert into trade (deposit_id, bot_id, quote_id, game, secret_code, partner_steam_id, state, currency,
      total, gross_total) values (${deposit.id}, ${bot.botId}, ${deposit.quoteId}, 'dota', 'ABC', '1', 'intended', 'USD', 1, 1)`
    await expect(intent.execute(till.db)).rejects.toMatchObject({ code: BETWEEN_EPOCHS })
    await expect(makeWish(bot.botId)).rejects.toMatchObject({ code: BETWEEN_EPOCHS })
    expect(await renewLease(till.db, lease)).toBe(false)
    await till.db.updateTable('bot').set({ lease_until: null }).execute()
    expect(await takeLeases(till.db, systemIds.uuid(), 1)).toEqual([])
  })

  test('sends no due webhook until the next epoch, even before a gateway notices', async () => {
    const { id } = await anEndpoint(till, api.store, 'http://127.0.0.1:9/')
    await watch().check()
    await publish(1)
    await promote()
    expect(await claimDue(till.deps, id)).toEqual([])
    await finish()
    const [claim] = await claimDue(till.deps, id)
    expect(claim?.payload).toMatchObject({ type: 'deposit.payment_timeout' })
  })

  test('logs once a minute that it is stopped, and does not try to publish', async () => {
    const epochs = watch()
    await epochs.check()
    await expiredDeposit(till, api.store)
    await promote()
    for (const at of [0, 30_000, 59_000, 61_000]) {
      nowMs = at
      await epochs.check()
    }
    expect(errorsOf(till.lines)).toHaveLength(2)
    expect(errorsOf(till.lines)[0]).toContain('tradetill restore finish')
    await publishEvents({ ...till.deps, mayPublish: () => epochs.whyStopped() === undefined })
    expect((await eventsAfter(0)).json().events).toEqual([])
  })
})

test('D-37 a cursor ahead of the log is refused, and not answered with an empty page', async () => {
  await publish(2)
  expect((await eventsAfter(2)).json()).toEqual({ events: [], next: 2, hasMore: false })
  const answer = await eventsAfter(3)
  expect([answer.statusCode, answer.json().code]).toEqual([409, 'cursor_ahead'])
})

describe('D-37 restore finish', () => {
  test('skips a million numbers, and reports the epoch to every store before any other event', async () => {
    await publish(2)
    await anEndpoint(till, api.store, 'http://127.0.0.1:9/')
    const epochs = watch()
    await epochs.check()
    await expiredDeposit(till, api.store)
    await promote()
    await epochs.check()
    const { out, code } = await finish()
    expect([code, JSON.parse(out)]).toMatchObject([0, { epoch: 2, stores: 1, skipped: 1_000_000 }])
    await epochs.check()
    expect([epochs.whyStopped(), gauge]).toEqual([undefined, 0])
    await publishEvents(till.deps)
    // A store had read up to 57 before the loss.
    const { events } = (await eventsAfter(57)).json()
    expect(events).toMatchObject([
      { type: 'epoch.started', sequence: 1_000_003, data: { epoch: 2, previousSequence: 2 } },
      { type: 'deposit.payment_timeout', sequence: 1_000_004 },
    ])
    expect(await till.db.selectFrom('webhook_delivery').select('event_id').execute()).toHaveLength(2)
    const opened = (await openDeposit('order-9')).json()
    expect(Number(opened.id)).toBeGreaterThan(1_000_000)
    // Wishes skip numbers too, because the vault remembers what it did for each wish of the lost life.
    expect(await makeWish((await aBot(till)).bot.botId)).toBeGreaterThan(1_000_000)
  })

  test('assigns no number that an earlier restore of the same backup assigned', async () => {
    const firstNumbers: { sequence: number; depositId: number }[] = []
    for (const minutes of [60, 90]) {
      // A new till stands for the restored backup.
      await api.app.close()
      await till.close()
      till = await startTill()
      api = await startStoreApi(till)
      await watch().check()
      await jump(till, minutes * 60)
      await promote()
      expect((await finish()).code).toBe(0)
      await watch().check()
      const [started] = (await eventsAfter(0)).json().events
      firstNumbers.push({
        sequence: started.sequence,
        depositId: Number((await openDeposit('order-1')).json().id),
      })
    }
    const [first, second] = firstNumbers
    // An epoch skips 1,000 numbers more for each minute. The second restore comes half an hour later than the first.
    expect(second?.sequence).toBeGreaterThanOrEqual((first?.sequence ?? 0) + 30_000)
    expect(second?.depositId).toBeGreaterThanOrEqual((first?.depositId ?? 0) + 30_000)
  })

  test('begins one epoch for each failover, even with two stores', async () => {
    const otherApi = await startStoreApi(till)
    const epochs = watch()
    await epochs.check()
    for (const epoch of [2, 3]) {
      await promote()
      await epochs.check()
      expect(JSON.parse((await finish()).out)).toMatchObject({ epoch, stores: 2 })
    }
    const { events } = (await otherApi.call('GET', '/v1/events')).json()
    expect(events).toMatchObject([
      { data: { epoch: 2, previousSequence: 0 } },
      { data: { epoch: 3, previousSequence: 1_000_001 } },
    ])
    await otherApi.app.close()
  })

  test('is refused if no restore was noticed, unless the operator insists', async () => {
    await watch().check()
    expect(await finish()).toMatchObject({ code: 4, errors: expect.stringContaining('--unnoticed') })
    expect((await finish('--unnoticed')).code).toBe(0)
  })

  test('ends leases from before the restore', async () => {
    const { bot } = await aBot(till)
    await watch().check()
    await promote()
    await finish()
    const row = await till.db
      .selectFrom('bot')
      .select(['lease_epoch', 'lease_until'])
      .executeTakeFirstOrThrow()
    expect(row).toEqual({ lease_epoch: bot.leaseEpoch + 1n, lease_until: null })
  })
})

describe('D-37 TRADETILL_AFTER_FAILOVER=epoch', () => {
  test('begins one epoch for all gateways after a replica was promoted', async () => {
    const gateways = [watch({ afterFailover: 'epoch' }), watch({ afterFailover: 'epoch' })]
    await gateways[0]?.check()
    await promote()
    await Promise.all(gateways.map((gateway) => gateway.check()))
    expect(gateways.map((gateway) => gateway.whyStopped())).toEqual([undefined, undefined])
    const { epochs } = await till.db
      .selectFrom('epoch')
      .select((eb) => eb.fn.countAll<bigint>().as('epochs'))
      .executeTakeFirstOrThrow()
    expect(epochs).toBe(2n)
    expect((await eventsAfter(0)).json().events).toMatchObject([{ type: 'epoch.started' }])
  })

  test('does not begin an epoch on another server, which may be a copy for tests', async () => {
    const epochs = watch({ afterFailover: 'epoch' })
    await epochs.check()
    await changeRecord("system_identifier = '1'")
    await epochs.check()
    expect(epochs.whyStopped()).toBe('system')
  })
})

describe('D-37 the memory of a gateway', () => {
  /**
   * Returns a memory that has seen the database write more than it contains now, as if the server's folder had been
   * restored. The record in the database shows no restore.
   */
  const memoryAhead = (kept: Memory, bytes: bigint) => ({
    lastSeen: (life: Parameters<Memory['lastSeen']>[0]) => {
      const seen = kept.lastSeen(life)
      return seen && { ...seen, written: (seen.written ?? 0n) + bytes }
    },
    keep: kept.keep,
  })

  test('is kept in a folder, so it outlives the process', async () => {
    const epochs = watch()
    await epochs.check()
    await epochs.check()
    expect(readdirSync(folder)).toHaveLength(1)
    const later = watch({ memory: memoryAhead(memory(), 1_000_000_000n) })
    await later.check()
    expect(later.whyStopped()).toBe('behind')
  })

  test('if it is ahead of the database, stops every gateway of that database until the next epoch', async () => {
    const [first, second] = [watch(), watch({ memory: { lastSeen: () => undefined, keep() {} } })]
    await first.check()
    await first.check()
    await watch({ memory: memoryAhead(memory(), 1_000_000_000n) }).check()
    await second.check()
    expect(second.whyStopped()).toBe('behind')
    expect((await finish()).code).toBe(0)
    await second.check()
    expect(second.whyStopped()).toBeUndefined()
  })

  test.each([
    ['has', true],
    ['has not', false],
  ])(
    'does not stop the next epoch if a gateway that %s recorded the stop checks while `restore finish` is not committed',
    async (_has, isRecorded) => {
      const first = watch()
      await first.check()
      await first.check()
      const later = watch({ memory: memoryAhead(memory(), 1_000_000_000n) })
      if (isRecorded) await later.check()
      const tx = await till.db.startTransaction().execute()
      await lockPublishing(tx)
      await startEpoch(tx, { at: till.clock.now(), addDeliveries: async () => {} })
      let hasEnded = false
      const check = later.check().finally(() => {
        hasEnded = true
      })
      const isBlockedOrEnded = async () => {
        const { rows } = await sql`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(till.db)
        return hasEnded || rows.length === 1
      }
      await expect.poll(isBlockedOrEnded).toBe(true)
      await tx.commit().execute()
      await check
      await later.check()
      expect(later.whyStopped()).toBeUndefined()
    },
  )

  test('of a lost epoch 2 does not stop the new epoch 2 that follows when the same backup is restored again', async () => {
    const first = watch()
    await first.check()
    await first.check()
    await finish('--unnoticed')
    await first.check()
    // The same files are restored again: they contain neither the second epoch nor what it wrote.
    await sql`delete from epoch where number = 2`.execute(till.db)
    const later = watch({ memory: memoryAhead(memory(), 1_000_000_000n) })
    await later.check()
    expect(later.whyStopped()).toBe('behind')
    await jump(till, 60)
    expect(JSON.parse((await finish()).out)).toMatchObject({ epoch: 2 })
    await later.check()
    expect(later.whyStopped()).toBeUndefined()
  })

  test('that is ahead of the database stops the gateway even if the database cannot record the stop', async () => {
    const epochs = watch()
    await epochs.check()
    await epochs.check()
    await sql`create function refuse_halt() returns trigger language plpgsql as $$ begin raise 'disk full'; end $$`.execute(
      till.db,
    )
    await sql`create trigger refuse_halt before insert on halt execute function refuse_halt()`.execute(
      till.db,
    )
    const later = watch({ memory: memoryAhead(memory(), 1_000_000_000n) })
    await expect(later.check()).rejects.toThrow('disk full')
    expect(later.whyStopped()).toBe('behind')
  })

  test('causes one report if it cannot be read or written, and stops nothing', async () => {
    await watch().check()
    // A path through a file can be neither read nor written.
    writeFileSync(join(folder, 'file'), '')
    const unusable = createMemory(join(folder, 'file', 'none'), (error) => failures.push(error))
    const epochs = watch({ memory: unusable })
    await epochs.check()
    // Any write makes the server's log longer, so the next check tries to store its length.
    await till.db
      .insertInto('denied_shopper')
      .values({ steam_id: '76561198000000077', reason: 'r', denied_at: new Date() })
      .execute()
    await epochs.check()
    expect([failures.length, epochs.whyStopped()]).toEqual([1, undefined])
  })
})
