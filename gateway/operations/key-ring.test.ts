/** A rotation of the master key, on a real database that is read and written meanwhile. */
import { createCipheriv, randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { beatProcess } from '../bots/process-store.ts'
import { tokenPlace } from '../bots/service.ts'
import { readConfig } from '../config.ts'
import { claimDatabase, ownershipOf, readIdentity, recordKey } from '../db/identity.ts'
import { systemClock } from '../kit/clock.ts'
import { createSecretBox, fingerprintOf, markOf, type SecretBox } from '../kit/secret-box.ts'
import { TOKEN_PLACE, tokenOfDeposit, tokenOfTrade } from '../shoppers/trade-token.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { addEndpoint, secretsOf } from '../webhooks/endpoints.ts'
import { forgetLostKey, resealAll, rotateKeyRing, showKeyRing } from './key-ring.ts'
import type { ActDeps } from './operation.ts'
import { replaceValue, SEALED, valuesWithout } from './sealed-store.ts'

const OLD = Buffer.alloc(32, 1)
const NEW = Buffer.alloc(32, 2)
const withBothKeys = createSecretBox(NEW, [OLD])
const withNewKey = createSecretBox(NEW)
/** More bots than fit into one batch. */
const BOTS = 105
/** Sealed values: the tokens of bots, two webhook secrets, an idempotent answer, and three trade tokens. */
const VALUE_COUNT = BOTS + 6
const SEALED_BEFORE_KILL = 40
const HASH = '0'.repeat(32)
const ANSWER_PLACE = 'idempotency_key:1:a:b:answer'

let database: TestDatabase
let webhookSecret: string

beforeEach(async () => {
  database = await testDatabase()
  const { db, pool } = database
  await claimDatabase(pool, { mode: 'sandbox', keyFingerprint: fingerprintOf(OLD) })
  const old = createSecretBox(OLD)
  const bots = Array.from({ length: BOTS }, (_, n) => String(76561198000000001n + BigInt(n)))
  await db
    .insertInto('bot')
    .values(
      bots.map((steamId, n) => ({
        steam_id: steamId,
        name: 'Bot',
        level: 1,
        avatar_url: 'a',
        profile_url: 'p',
        refresh_token: (n % 2 === 0 ? old.seal : sealedWithoutId)(`token ${steamId}`, tokenPlace(steamId)),
      })),
    )
    .execute()
  const { id: storeId } = await db
    .insertInto('store')
    .values({ name: 'Ember', origins: ['https://x'], risk_limit_usd_cents: 0n })
    .returning('id')
    .executeTakeFirstOrThrow()
  webhookSecret = await db.transaction().execute(async (tx) => {
    const addedEndpoint = await addEndpoint(
      tx,
      { box: old, clock: systemClock },
      { storeId, url: 'https://x/' },
    )
    return addedEndpoint.secret
  })
  await sql`update webhook_endpoint set previous_secret = secret, previous_until = now() + interval '1 day'`.execute(
    db,
  )
  await sql`insert into idempotency_key (store_id, key, request_sha256, created_at, status, answer)
    values (${storeId}, 'a:b', '', now(), 200, ${old.seal('answer', ANSWER_PLACE)})`.execute(db)
  await addTokens(old)
})

/** Adds a deposit, its trade and its inventory request, each with a trade token. */
async function addTokens(box: SecretBox): Promise<void> {
  const sealed = (place: string) => box.seal('tok-en_1', place)
  await sql`
    with deposit as (
      insert into deposit (hash, store_id, external_id, request_sha256, currency, back_to_store_url, expires_at,
        user_steam_id, user_token_sealed)
      select ${HASH}, id, 'a', '', 'USD', 'https://x', now(), 's', ${sealed(TOKEN_PLACE.deposit(HASH))} from store
      returning id),
    rate as (
      insert into exchange_rate (currency, per_usd, source, as_of) values ('USD', 1, 'test', now()) returning id),
    quote as (
      insert into quote (id, deposit_id, game, currency, rate_id, created_at, expires_at)
      select gen_random_uuid(), deposit.id, 'cs', 'USD', rate.id, now(), now() from deposit, rate
      returning id, deposit_id),
    asked as (
      insert into inventory_request (bot_id, steam_id, token_sealed, token_hmac, game, language)
      select min(id), 's', ${sealed(TOKEN_PLACE.inventoryRequest('s'))}, '', 'cs', 'en' from bot)
    insert into trade (deposit_id, bot_id, quote_id, game, secret_code, partner_steam_id, partner_token_sealed,
      currency, total, gross_total)
    select deposit_id, (select min(id) from bot), id, 'cs', 'c', 's', ${sealed(TOKEN_PLACE.trade('c'))}, 'USD', 1, 1
    from quote`.execute(database.db)
}
afterEach(() => database.close())

/** Seals with the old key as version 0.2.0 did, without a fingerprint. */
function sealedWithoutId(plain: string, place: string): Buffer {
  const nonce = Buffer.alloc(12, 5)
  const cipher = createCipheriv('aes-256-gcm', OLD, nonce).setAAD(Buffer.from(place))
  const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
  return Buffer.concat([Buffer.from([1]), nonce, cipher.getAuthTag(), body])
}

/** Returns every sealed value, opened with these keys. Throws if a value does not open. */
async function readAll(box: SecretBox): Promise<string[]> {
  const { db } = database
  const bots = await db.selectFrom('bot').select(['steam_id', 'refresh_token']).orderBy('id').execute()
  const endpoint = await db.selectFrom('webhook_endpoint').selectAll().executeTakeFirstOrThrow()
  const deposit = await db.selectFrom('deposit').selectAll().executeTakeFirstOrThrow()
  const trade = await db.selectFrom('trade').selectAll().executeTakeFirstOrThrow()
  const request = await db.selectFrom('inventory_request').selectAll().executeTakeFirstOrThrow()
  const { answer } = await db.selectFrom('idempotency_key').select('answer').executeTakeFirstOrThrow()
  return [
    ...bots.map((bot) => box.open(bot.refresh_token, tokenPlace(bot.steam_id))),
    ...secretsOf(box, endpoint, new Date()),
    box.open(answer ?? Buffer.alloc(0), ANSWER_PLACE),
    String(tokenOfDeposit(box, deposit)),
    String(tokenOfTrade(box, trade)),
    box.open(request.token_sealed, TOKEN_PLACE.inventoryRequest(request.steam_id)),
  ]
}

function depsWith(masterKey: Buffer, oldMasterKeys: Buffer[] = []): ActDeps {
  const answer = readConfig({})
  if (answer.kind === 'refused') throw new Error(answer.problems.join())
  const config = { ...answer.config, masterKey, oldMasterKeys }
  return { config, db: database.db, clock: systemClock, operator: 'Ada', reason: null }
}

async function ownershipWith(masterKey: Buffer, oldMasterKeys: Buffer[] = []) {
  const identity = await readIdentity(database.pool)
  if (identity === undefined) throw new Error('nobody has claimed the database')
  return ownershipOf(identity, { mode: 'sandbox', masterKey, oldMasterKeys })
}

/** Does what a gateway does when it starts with the new key. */
const startWithNew = () => recordKey(database.pool, fingerprintOf(NEW))

describe('a rotation', () => {
  it('seals every value with the new key while gateways read, and then only the new key is needed', async () => {
    const before = await readAll(withBothKeys)
    expect(before).toHaveLength(VALUE_COUNT)
    await startWithNew()
    expect(await showKeyRing(depsWith(NEW, [OLD]))).toMatchObject({
      data: { values: VALUE_COUNT, left: VALUE_COUNT },
    })
    let isOver = false
    const rotated = rotateKeyRing(depsWith(NEW, [OLD])).finally(() => {
      isOver = true
    })
    let reads = 0
    do {
      expect(await readAll(withBothKeys)).toEqual(before)
      reads += 1
    } while (!isOver)
    expect(reads).toBeGreaterThan(1)
    expect(await rotated).toMatchObject({
      kind: 'done',
      data: { resealed: VALUE_COUNT, left: 0, unreadable: 0 },
    })
    expect(await readAll(withNewKey)).toEqual(before)
    expect(await ownershipWith(NEW)).toMatchObject({ kind: 'own' })
    expect(await ownershipWith(OLD)).toMatchObject({ kind: 'foreign' })
    expect(await rotateKeyRing(depsWith(NEW))).toMatchObject({
      kind: 'unchanged',
      data: { resealed: 0, left: 0 },
    })
    const acts = await database.db.selectFrom('operator_act').select(['act', 'arguments']).execute()
    expect(acts).toEqual([
      { act: 'key-ring rotate', arguments: { left: 0, resealed: VALUE_COUNT, unreadable: 0 } },
    ])
  })

  it('can be killed halfway: every value still opens, and the next run continues', async () => {
    const before = await readAll(withBothKeys)
    await startWithNew()
    let sealed = 0
    const failing: SecretBox = {
      ...withBothKeys,
      seal: (plain, place) => {
        sealed += 1
        if (sealed > SEALED_BEFORE_KILL) throw new Error('killed')
        return withBothKeys.seal(plain, place)
      },
    }
    await expect(resealAll(database.db, failing, markOf(NEW))).rejects.toThrow('killed')
    const valuesLeft = VALUE_COUNT - SEALED_BEFORE_KILL
    expect(await showKeyRing(depsWith(NEW, [OLD]))).toMatchObject({ data: { left: valuesLeft } })
    expect(await readAll(withBothKeys)).toEqual(before)
    expect(await ownershipWith(NEW)).toMatchObject({
      kind: 'foreign',
      reason: expect.stringContaining('OLD_MASTER'),
    })
    expect(await rotateKeyRing(depsWith(NEW, [OLD]))).toMatchObject({
      data: { resealed: valuesLeft, left: 0 },
    })
    expect(await readAll(withNewKey)).toEqual(before)
  })

  it('does not overwrite a value that has changed since the rotation read it', async () => {
    const { db } = database
    const [tokens] = SEALED
    if (tokens === undefined) throw new Error('nothing is sealed')
    const [read] = await valuesWithout(db, tokens, { mark: markOf(NEW), after: undefined, limit: 1 })
    if (read === undefined) throw new Error('there is no token')
    const renewed = withBothKeys.seal('renewed', read.place)
    const botOfValue = db.updateTable('bot').where('id', '=', BigInt(read.at[0] ?? ''))
    await botOfValue.set({ refresh_token: renewed }).execute()
    const fresh = withBothKeys.seal('before', read.place)
    expect(await replaceValue(db, tokens, { ...read, fresh })).toBe(false)
    expect((await readAll(withBothKeys))[0]).toBe('renewed')
  })

  it('reports a value that no key opens, and needs the old key while there is such a value', async () => {
    await startWithNew()
    await database.db
      .updateTable('bot')
      .set({ refresh_token: createSecretBox(Buffer.alloc(32, 9)).seal('x', tokenPlace('76561198000000002')) })
      .where('steam_id', '=', '76561198000000002')
      .execute()
    expect(await rotateKeyRing(depsWith(NEW, [OLD]))).toMatchObject({
      kind: 'done',
      data: { resealed: VALUE_COUNT - 1, left: 1, unreadable: 1 },
      message: expect.stringContaining('No key of these settings opens 1 of them.'),
    })
    expect(await ownershipWith(NEW)).toMatchObject({ kind: 'foreign' })
  })

  it('is refused until every gateway has the new key', async () => {
    expect(await rotateKeyRing(depsWith(NEW, [OLD]))).toMatchObject({ kind: 'refused', refusal: 'conflict' })
    await startWithNew()
    const otherGateway = { owner: randomUUID(), maxBots: 50, keyFingerprint: fingerprintOf(OLD) }
    await beatProcess(database.db, otherGateway)
    expect(await rotateKeyRing(depsWith(NEW, [OLD]))).toMatchObject({ kind: 'refused', refusal: 'conflict' })
    expect(await showKeyRing(depsWith(NEW, [OLD]))).toMatchObject({ data: { left: VALUE_COUNT } })
    await beatProcess(database.db, { ...otherGateway, keyFingerprint: fingerprintOf(NEW) })
    expect(await rotateKeyRing(depsWith(NEW, [OLD]))).toMatchObject({ kind: 'done' })
  })
})

it('forgetting a lost key needs a stopped till and a reason, and erases the values that the lost key sealed', async () => {
  const lost = { ...depsWith(NEW, []), reason: 'lost with its server' }
  const gateway = { owner: randomUUID(), maxBots: 50, keyFingerprint: fingerprintOf(OLD) }
  await beatProcess(database.db, gateway)
  expect(await forgetLostKey(lost)).toMatchObject({ kind: 'refused', refusal: 'conflict' })
  await database.db.deleteFrom('gateway_process').execute()
  // The database knows this key, so it is not lost.
  expect(await forgetLostKey({ ...lost, ...depsWith(OLD, []), reason: 'x' })).toMatchObject({
    refusal: 'conflict',
  })
  expect(await forgetLostKey({ ...lost, reason: null })).toMatchObject({ kind: 'refused', refusal: 'usage' })
  expect(await ownershipWith(NEW)).toMatchObject({ kind: 'foreign' })
  expect(await forgetLostKey(lost)).toMatchObject({
    kind: 'done',
    data: { bots: BOTS, endpoints: 1 },
  })
  expect(await ownershipWith(NEW)).toMatchObject({ kind: 'own' })
  expect(await showKeyRing(lost)).toMatchObject({ data: { values: 0, left: 0 } })
})

it('a webhook is signed only with the new secret if the previous secret was sealed with a lost key', async () => {
  const endpoint = await database.db.selectFrom('webhook_endpoint').selectAll().executeTakeFirstOrThrow()
  const place = `webhook_endpoint:${endpoint.id}:secret`
  const renewed = { ...endpoint, secret: withNewKey.seal('fresh', place) }
  expect(secretsOf(withNewKey, renewed, new Date())).toEqual(['fresh'])
  expect(secretsOf(withBothKeys, renewed, new Date())).toEqual(['fresh', webhookSecret])
  expect(() => secretsOf(withNewKey, endpoint, new Date())).toThrow('No key of this till')
})
