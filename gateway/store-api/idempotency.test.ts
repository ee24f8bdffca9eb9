import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { refuse } from '../http/refusal.ts'
import { canonicalJson } from '../kit/canonical-json.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import { sha256 } from '../kit/sha256.ts'
import { BACK_URL, type StoreApi, startStoreApi } from '../testing/store-api.ts'
import { aStore, startTill, TEST_MASTER_KEY, type Till } from '../testing/till.ts'
import { sweepIdempotency } from './idempotency.ts'
import { OPERATIONS } from './table.ts'

const BODY = { externalId: 'a', currency: 'USD', backToStoreUrl: BACK_URL }
const HOUR_MS = 3_600_000

let till: Till
let api: StoreApi

beforeEach(async () => {
  till = await startTill()
  api = await startStoreApi(till)
})
afterEach(async () => {
  await api.app.close()
  await till.close()
})

const post = (body: object, key = 'once', apiKey = api.key) =>
  api.call('POST', '/v1/deposits', { body, key: apiKey, headers: { 'idempotency-key': key } })

/** Puts the key into the state of a call that has not ended and no longer renews its lock. */
const lockFor = (time: string) =>
  sql`update idempotency_key set status = null, answer = null, locked_until = now() + ${time}::interval`.execute(
    till.db,
  )

describe('a call with an Idempotency-Key', () => {
  test('that is repeated gets the first answer, marked as repeated', async () => {
    const [first, again] = [await post(BODY), await post(BODY)]
    expect([first.statusCode, again.statusCode]).toEqual([201, 201])
    expect([first.headers['idempotency-replayed'], again.headers['idempotency-replayed']]).toEqual([
      undefined,
      'true',
    ])
    expect(again.body).toBe(first.body)
    expect(again.headers['content-type']).toBe(first.headers['content-type'])
  })

  test('is refused if the key was used with other values', async () => {
    await post(BODY)
    const otherOrder = await post({ ...BODY, externalId: 'b' })
    expect([otherOrder.statusCode, otherOrder.json().code]).toEqual([422, 'idempotency_key_reused'])
  })

  test('that is repeated with its metadata in another order gets the first answer', async () => {
    const first = await post({ ...BODY, metadata: { cart: '7', campaign: 'autumn' } })
    const again = await post({ metadata: { campaign: 'autumn', cart: '7' }, ...BODY })
    expect([again.statusCode, again.body]).toEqual([201, first.body])
  })

  const OLD_KEY = Buffer.alloc(32, 9)
  test.each<[what: string, jsonOf: (body: object) => string, hashOf: (text: string) => Buffer]>([
    ['an upgrade of the till', JSON.stringify, sha256],
    ['a change of the master key', canonicalJson, (text) => createSecretBox(OLD_KEY).hmacs(text)[0]],
  ])('that was first made before %s gets the first answer', async (_what, jsonOf, hashOf) => {
    await api.app.close()
    api = await startStoreApi(till, { change: { box: createSecretBox(TEST_MASTER_KEY, [OLD_KEY]) } })
    const first = await post(BODY)
    const request_sha256 = hashOf(`POST /v1/deposits\n${jsonOf({ body: BODY })}`)
    await till.db.updateTable('idempotency_key').set({ request_sha256 }).execute()
    expect((await post(BODY)).body).toBe(first.body)
    expect((await post({ ...BODY, currency: 'EUR' })).json().code).toBe('idempotency_key_reused')
  })

  test('that was refused permanently gets the same refusal when it is repeated', async () => {
    await post(BODY)
    const conflict = { ...BODY, maxAmount: 1 }
    const [first, again] = [await post(conflict, 'two'), await post(conflict, 'two')]
    expect([first.statusCode, again.statusCode, again.json().code]).toEqual([409, 409, 'order_conflict'])
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect(again.headers['content-type']).toContain('application/problem+json')
  })

  test('is refused temporarily while the first call with the key runs', async () => {
    const gate = Promise.withResolvers<void>()
    const entered = Promise.withResolvers<void>()
    await api.app.close()
    api = await startStoreApi(till, {
      change: {
        createDeposit: async (store, body) => {
          entered.resolve()
          await gate.promise
          return refuse('order_conflict', [{ path: body.externalId, message: store.name }])
        },
      },
    })
    const first = post(BODY)
    await entered.promise
    const second = await post(BODY)
    expect([second.statusCode, second.json().code, second.headers['retry-after']]).toEqual([
      409,
      'idempotency_in_progress',
      '1',
    ])
    gate.resolve()
    expect((await first).json().code).toBe('order_conflict')
  })

  test('runs a second time if the first call failed on our side or was killed', async () => {
    let broken = true
    await api.app.close()
    const real = api.deps.createDeposit
    const createDeposit: typeof real = async (store, body) => {
      if (broken) throw new Error('out of order')
      return real(store, body)
    }
    api = await startStoreApi(till, { change: { createDeposit } })
    expect((await post(BODY)).statusCode).toBe(500)
    broken = false
    expect((await post(BODY)).statusCode).toBe(201)
    await lockFor('30 seconds')
    expect((await post(BODY)).statusCode).toBe(409)
    await lockFor('-1 second')
    expect((await post(BODY)).statusCode).toBe(200)
  })

  const TEMPORARY = [
    'too_many_deposits',
    'deposit_busy',
    'replay_in_progress',
    'no_bot_available',
    'overloaded',
  ] as const
  test.each(TEMPORARY)(
    'that was refused temporarily (%s) is carried out when it is repeated',
    async (code) => {
      const real = api.deps.createDeposit
      let isLater = false
      const createDeposit: typeof real = async (store, body) =>
        isLater ? real(store, body) : refuse(code, { retryAfterS: 3 })
      await api.app.close()
      api = await startStoreApi(till, { change: { createDeposit } })
      for (const _ of [1, 2]) {
        const refused = await post(BODY)
        expect([refused.json().code, refused.headers['retry-after']]).toEqual([code, '3'])
        expect(refused.headers['idempotency-replayed']).toBeUndefined()
      }
      isLater = true
      const [made, again] = [await post(BODY), await post(BODY)]
      expect([made.statusCode, again.statusCode]).toEqual([201, 201])
      expect(again.headers['idempotency-replayed']).toBe('true')
    },
  )

  test('is answered even if the answer cannot be stored, and runs again if it is repeated after the lock’s end', async () => {
    const real = api.deps.createDeposit
    let isBroken = true
    const createDeposit: typeof real = async (store, body) => {
      const answer = await real(store, body)
      if (!isBroken) return answer
      isBroken = false
      await sql`alter table idempotency_key add constraint broken check (answer is null) not valid`.execute(
        till.db,
      )
      return answer
    }
    await api.app.close()
    api = await startStoreApi(till, { change: { createDeposit } })
    expect((await post(BODY)).statusCode).toBe(201)
    expect(till.lines.join('')).toContain('answer under an idempotency key could not be stored')
    expect((await post(BODY)).json().code).toBe('idempotency_in_progress')
    await sql`alter table idempotency_key drop constraint broken`.execute(till.db)
    await lockFor('-1 second')
    expect((await post(BODY)).statusCode).toBe(200)
  })

  test('D-40 keeps its key locked while it runs, even if the till’s clock is advanced', async () => {
    await post(BODY)
    await lockFor('30 seconds')
    till.clock.jump(HOUR_MS)
    expect((await post(BODY)).statusCode).toBe(409)
    till.clock.jump(48 * HOUR_MS)
    expect((await post(BODY)).statusCode).toBe(409)
    await lockFor('-1 second')
    expect((await post(BODY)).statusCode).toBe(200)
  })

  /** Starts a call that waits until `open` is called, and then goes on or fails. */
  async function startSlowCall(end: 'goes on' | 'fails', renewKeysMs?: number) {
    const [gate, entered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const real = api.deps.createDeposit
    let calls = 0
    const createDeposit: typeof real = async (store, body) => {
      calls += 1
      if (calls > 1) return real(store, body)
      entered.resolve()
      await gate.promise
      if (end === 'fails') throw new Error('it took too long')
      return real(store, body)
    }
    await api.app.close()
    api = await startStoreApi(till, { change: { createDeposit, ...(renewKeysMs && { renewKeysMs }) } })
    const first = post(BODY)
    await entered.promise
    return { first, open: gate.resolve, calls: () => calls }
  }

  test('that is slow keeps its key until the call ends, even against a gateway whose clock is ahead', async () => {
    const slow = await startSlowCall('goes on', 10)
    const lockedUntil = async () =>
      (await till.db.selectFrom('idempotency_key').select('locked_until').executeTakeFirstOrThrow())
        .locked_until
    const firstLockEnd = await lockedUntil()
    await expect.poll(lockedUntil).not.toEqual(firstLockEnd)
    till.clock.advance(HOUR_MS)
    expect((await post(BODY)).json().code).toBe('idempotency_in_progress')
    slow.open()
    expect((await slow.first).statusCode).toBe(201)
    expect((await post(BODY)).headers['idempotency-replayed']).toBe('true')
    expect(slow.calls()).toBe(1)
  })

  test('that hangs keeps its key for sixty renewals, and is reported', async () => {
    const renewals = async () => {
      const { rows } = await sql<{ count: number }>`select count::int from renewal`.execute(till.db)
      return rows[0]?.count
    }
    await sql`create table renewal as select 0 as count`.execute(till.db)
    await sql`
      create function count_renewal() returns trigger language plpgsql as
      'begin update renewal set count = count + 1; return new; end'`.execute(till.db)
    await sql`
      create trigger renewed after update of locked_until on idempotency_key
      for each row when (new.locked_until is not null) execute function count_renewal()`.execute(till.db)
    const slow = await startSlowCall('goes on', 1)
    await expect.poll(() => till.lines.join('')).toContain('key of a hanging call is no longer renewed')
    slow.open()
    await slow.first
    expect(await renewals()).toBe(60)
  })

  test.each(['goes on', 'fails'] as const)(
    'that lost its key, because its process was suspended, and then %s, does not replace the next call’s answer',
    async (end) => {
      const slow = await startSlowCall(end)
      await lockFor('-1 second')
      const second = await post(BODY)
      expect(second.statusCode).toBe(201)
      slow.open()
      expect((await slow.first).statusCode).toBe(end === 'fails' ? 500 : 200)
      const third = await post(BODY)
      expect([third.body, third.headers['idempotency-replayed']]).toEqual([second.body, 'true'])
      expect(slow.calls()).toBe(2)
      expect(till.lines.join('')).toContain('idempotency key of a running call was taken over')
    },
  )

  test('is remembered for 48 hours', async () => {
    await post(BODY)
    till.clock.advance(48 * HOUR_MS - 1)
    await sweepIdempotency(till.deps)
    expect((await post(BODY)).headers['idempotency-replayed']).toBe('true')
    till.clock.advance(1)
    expect((await post(BODY)).statusCode).toBe(200)
    till.clock.advance(49 * HOUR_MS)
    await sweepIdempotency(till.deps)
    expect(await till.db.selectFrom('idempotency_key').select('key').execute()).toEqual([])
  })

  test('does not keep another store’s call with the same key from running', async () => {
    const first = await post(BODY)
    const otherStore = await aStore(till)
    const answer = await post({ ...BODY, externalId: 'mine' }, 'once', await api.newKey(otherStore))
    expect([answer.statusCode, answer.json().externalId]).toEqual([201, 'mine'])
    expect(answer.json().id).not.toBe(first.json().id)
  })

  test('has one effect even if it is made fifty times at once, and its answer is stored encrypted', async () => {
    const body = { url: 'https://store.test/hook' }
    const headers = { 'idempotency-key': 'endpoint' }
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => api.call('POST', '/v1/webhook-endpoints', { body, headers })),
    )
    expect(new Set(answers.map((answer) => answer.statusCode))).toEqual(new Set([201, 409]))
    const secrets = answers.flatMap((answer) => (answer.statusCode === 201 ? [answer.json().secret] : []))
    expect(new Set(secrets).size).toBe(1)
    expect(await till.db.selectFrom('webhook_endpoint').select('id').execute()).toHaveLength(1)
    const stored = await till.db.selectFrom('idempotency_key').select('answer').executeTakeFirstOrThrow()
    expect(stored.answer?.toString('latin1')).not.toContain('whsec_')
  })

  test.each(['two words', '\u00e4', 'x'.repeat(256)])(
    'is refused if its key is too long, or has a character other than visible ASCII: "%s"',
    async (key) => {
      const answer = await post(BODY, key)
      expect(answer.statusCode).toBe(400)
    },
  )
})

test('a body with thousands of nested levels is refused by every POST and DELETE, with or without a key', async () => {
  const writes = OPERATIONS.filter(({ method }) => method !== 'GET')
  expect(writes).not.toEqual([])
  const payload = `${'['.repeat(5_000)}${']'.repeat(5_000)}`
  const json = { authorization: `Bearer ${api.key}`, 'content-type': 'application/json' }
  for (const { method, path } of writes)
    for (const headers of [json, { ...json, 'idempotency-key': 'deep' }]) {
      const answer = await api.app.inject({ method, url: path.replace(/:\w+/, '1'), headers, payload })
      expect([path, answer.statusCode, answer.json().code]).toEqual([path, 400, 'invalid_request'])
    }
})
