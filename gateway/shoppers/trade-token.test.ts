import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createDeposit, prefillShopper } from '../deposits/create.ts'
import { resolveUser } from '../deposits/service.ts'
import { viewReader } from '../deposits/shopper-view.ts'
import { publishEvents } from '../events/service.ts'
import { readInventory } from '../inventory/service.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import { sha256 } from '../kit/sha256.ts'
import { type StockedTill, startStockedTill } from '../testing/inventory.ts'
import { offerFor } from '../testing/payment.ts'
import { BACK_URL, startStoreApi } from '../testing/store-api.ts'
import { aDeposit, aStore, TEST_BOX } from '../testing/till.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { requestTrade } from '../trades/request.ts'
import { sealTokens } from './jobs.ts'
import { linkHmacs, tokenOfDeposit, tokenOfTrade } from './trade-token.ts'

const STEAM_ID = '76561198000000009'
const TOKEN = 'Zq7-tok3'
const LINK = `https://steamcommunity.com/tradeoffer/new/?partner=39734281&token=${TOKEN}`

let till: StockedTill

beforeEach(async () => {
  till = await startStockedTill()
})
afterEach(() => till.close())

/** Returns every row of every table as text, including jobs and migrations. */
async function dump(): Promise<string[]> {
  const { rows: tables } = await sql<{ name: string }>`
    select oid::regclass::text as name from pg_class
    where relkind = 'r' and relnamespace in ('public'::regnamespace, 'pgboss'::regnamespace)`.execute(till.db)
  const parts = await Promise.all(
    tables.map(async ({ name }) => {
      const { rows } = await sql<{ row: string }>`select t::text as row from ${sql.raw(name)} t`.execute(
        till.db,
      )
      return rows.map(({ row }) => `${name}: ${row}`)
    }),
  )
  return parts.flat()
}

/** Pays a deposit with the token `TOKEN`. The store gives the link, and the shopper pastes it too. */
async function payWithLink(store?: { id: bigint }): Promise<bigint> {
  const { deposit } = await createDeposit(till.deps, store ?? (await aStore(till)), {
    externalId: 'with a link',
    currency: 'EUR',
    backToStoreUrl: 'https://store.test/',
    tradeUrl: LINK,
  })
  const [id, hash] = [BigInt(deposit.id), deposit.url.slice(-32)]
  await prefillShopper(till.deps, id)
  await resolveUser(till.deps, { hash, tradeUrl: LINK })
  const { items, quoteId } = await till.withBot(() => readInventory(till.deps, { hash, game: 'cs' }))
  const body = { hash, game: 'cs' as const, items: items.map((item) => item.id), quoteId: quoteId ?? '' }
  const { tradeId, offerId } = await offerFor(till, till.bot, { id, body })
  till.readers[0]?.session.accept(offerId)
  await tradeHandlers(till.deps).trade(till.bot, tradeId)
  return id
}

const depositRow = (id: bigint) =>
  till.db.selectFrom('deposit').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

it('no table contains the trade token of a paid deposit in readable form', async () => {
  const id = await payWithLink()
  expect(await depositRow(id)).toMatchObject({ status: 'succeeded', user_steam_id: STEAM_ID })
  const rows = await dump()
  // The dump works: it contains a value that is stored in readable form.
  expect(rows.some((row) => row.startsWith('trade: ') && row.includes(STEAM_ID))).toBe(true)
  const forms = [TOKEN, Buffer.from(TOKEN).toString('hex'), Buffer.from(TOKEN).toString('base64')]
  expect(rows.filter((row) => forms.some((form) => row.includes(form)))).toEqual([])
  expect(tokenOfDeposit(TEST_BOX, await depositRow(id))).toBe(TOKEN)
})

it('D-26 no answer to a deposit’s page or to its store contains the trade token', async () => {
  const api = await startStoreApi(till)
  const paid = await payWithLink(api.store)
  const { hash } = await depositRow(paid)
  const body = { externalId: 'open', currency: 'EUR', backToStoreUrl: BACK_URL, tradeUrl: LINK }
  const opened = await api.call('POST', '/v1/deposits', { body })
  const user = await resolveUser(till.deps, { hash: opened.json().url.slice(-32), tradeUrl: LINK })
  await publishEvents(till.deps)
  const views = await viewReader(till.db, 'https://steam.test')([hash])
  const urls = [`/v1/deposits/${paid}`, '/v1/deposits?limit=10', '/v1/events?limit=10']
  const toStore = await Promise.all(urls.map((url) => api.call('GET', url)))
  const answers = [JSON.stringify(user), views.get(hash)?.body ?? '', ...toStore.map((answer) => answer.body)]
  // Each of these answers contains the shopper's account.
  for (const answer of answers) expect(answer).toMatch(/partner=39734281|76561198000000009/)
  expect([...answers, opened.body].filter((answer) => answer.includes(TOKEN))).toEqual([])
  await api.app.close()
})

it('a copy of the database does not show whether a guessed token was in a call with an Idempotency-Key', async () => {
  const api = await startStoreApi(till)
  const body = { externalId: 'open', currency: 'EUR', backToStoreUrl: BACK_URL, tradeUrl: LINK }
  const headers = { 'idempotency-key': 'once' }
  const answers = [
    await api.call('POST', '/v1/deposits', { body, headers }),
    await api.call('POST', '/v1/deposits', { body, headers }),
  ]
  expect(answers.map((answer) => answer.headers['idempotency-replayed'])).toEqual([undefined, 'true'])
  // Everything but the eight characters of the token is known, so each guess costs one hash.
  const guessed = sha256(`POST /v1/deposits\n${JSON.stringify({ body })}`).toString('hex')
  expect((await dump()).filter((row) => row.includes(guessed))).toEqual([])
  await api.app.close()
})

it('an offer is sent with the decrypted token of its deposit', async () => {
  const sent: unknown[] = []
  const { session } = till.readers[0] ?? {}
  if (session === undefined) throw new Error('no bot')
  const { sendOffer } = session
  session.sendOffer = (partner, ...rest) => {
    sent.push(partner)
    return sendOffer(partner, ...rest)
  }
  await payWithLink()
  expect(sent).toEqual([{ steamId: STEAM_ID, token: TOKEN }])
})

it('a trade whose token was removed is refused, and no offer is sent', async () => {
  const { id, body } = await aDeposit(till, await aStore(till), { game: 'cs' })
  const answer = requestTrade(till.deps, body)
  const tradeRow = () =>
    till.db.selectFrom('trade').selectAll().where('deposit_id', '=', id).executeTakeFirst()
  await expect.poll(tradeRow).toBeDefined()
  await till.db.updateTable('trade').set({ partner_token_sealed: null }).execute()
  await tradeHandlers(till.deps).trade(till.bot, (await tradeRow())?.id ?? 0n)
  expect(await answer).toMatchObject({ kind: 'refused', code: 'trade_refused' })
  expect(till.readers[0]?.session.calls).toEqual([])
})

it('the unencrypted tokens of an older version work, and are then encrypted', async () => {
  const id = await payWithLink()
  await sql`update deposit set user_token = ${TOKEN}, user_token_sealed = null where id = ${id}`.execute(
    till.db,
  )
  await sql`update trade set partner_token = ${TOKEN}, partner_token_sealed = null`.execute(till.db)
  expect(tokenOfDeposit(TEST_BOX, await depositRow(id))).toBe(TOKEN)
  const tradeRow = () => till.db.selectFrom('trade').selectAll().executeTakeFirstOrThrow()
  expect(tokenOfTrade(TEST_BOX, await tradeRow())).toBe(TOKEN)
  await sealTokens({ db: till.db, box: TEST_BOX })
  expect((await dump()).filter((row) => row.includes(TOKEN))).toEqual([])
  expect(tokenOfDeposit(TEST_BOX, await depositRow(id))).toBe(TOKEN)
  expect(tokenOfTrade(TEST_BOX, await tradeRow())).toBe(TOKEN)
})

it('a trade link from before a rotation of the master key is recognised during the rotation', () => {
  const [older, newer] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const link = { steamId: STEAM_ID, token: TOKEN }
  const [before] = linkHmacs(createSecretBox(older), link)
  const [after, ...known] = linkHmacs(createSecretBox(newer, [older]), link)
  expect(known).toContainEqual(before)
  expect(after).not.toEqual(before)
  expect(linkHmacs(createSecretBox(older), { ...link, token: 'another1' })[0]).not.toEqual(before)
})
