import { type FastifyInstance, fastify } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createDeposit } from '../deposits/create.ts'
import { handleErrors } from '../http/problem.ts'
import { savePriceHold, savePrices, saveRate } from '../pricing/store.ts'
import { anItem, type StockedTill, setPrices, startStockedTill } from '../testing/inventory.ts'
import { aStore } from '../testing/till.ts'
import { inventoryRoutes } from './routes.ts'

const MINUTE_MS = 60_000

let till: StockedTill
let app: FastifyInstance

beforeEach(async () => {
  till = await startStockedTill()
  till.steam.owned = { kind: 'items', items: [anItem('1', 'Knife'), anItem('2', 'Case')] }
  app = fastify().setValidatorCompiler(validatorCompiler).setSerializerCompiler(serializerCompiler)
  handleErrors(app, till.deps.log)
  await app.register(inventoryRoutes(till.deps))
})
afterEach(async () => {
  await app.close()
  await till.close()
})

async function ask(query: { hash?: string; quoteId: string | null; item: string }) {
  const parameters = { hash: till.hash, ...query, quoteId: String(query.quoteId) }
  const { statusCode, ...answer } = await app.inject(`/api/price?${new URLSearchParams(parameters)}`)
  return { statusCode, body: answer.json() }
}

async function saveKnifePrice(source: string): Promise<void> {
  const row = { levelUsdMicros: 20_000_000n, popularity: 50, popularityKind: 'sales7d' } as const
  await savePrices(till.db, { source, game: 'cs' }, [
    { ...row, marketHashName: 'Knife', usdMicros: 20_000_000n, asOf: till.clock.now() },
  ])
}

test('the answer names the sources of a price and of its exchange rate, with their ages at the time of the call', async () => {
  await till.db.deleteFrom('price').execute()
  await saveKnifePrice('skinport')
  till.clock.advance(4 * MINUTE_MS)
  await saveKnifePrice('market')
  await saveRate(till.db, 'ecb', { currency: 'EUR', perUsd: '0.80', asOf: till.clock.now() })
  await till.db.deleteFrom('exchange_rate').where('source', '=', 'test').execute()
  const { quoteId, items } = await till.ask()
  till.clock.advance(MINUTE_MS)
  // Prices that arrive later do not change the sources of the quoted price.
  await setPrices(till, { Knife: 1_000_000n })
  const { statusCode, body } = await ask({ quoteId, item: '1' })
  expect(statusCode).toBe(200)
  expect(body).toEqual({
    price: items.find(({ id }) => id === '1')?.price,
    currency: 'EUR',
    said: expect.arrayContaining([
      { source: 'Skinport', ageSeconds: 300 },
      { source: 'market.csgo.com', ageSeconds: 60 },
    ]),
    rate: { source: 'European Central Bank', ageSeconds: 60 },
  })
  expect(body.said).toHaveLength(2)
})

test("the operator's own price has no source name and no age", async () => {
  await savePriceHold(till.db, {
    game: 'cs',
    name: 'Knife',
    kind: 'override',
    usdMicros: 10_000_000n,
    since: till.clock.now(),
  })
  const { quoteId } = await till.ask()
  till.clock.advance(MINUTE_MS)
  expect((await ask({ quoteId, item: '1' })).body).toMatchObject({
    said: [{ source: null, ageSeconds: null }],
  })
  expect((await ask({ quoteId, item: '2' })).body).toMatchObject({
    said: [{ source: 'test', ageSeconds: 60 }],
  })
})

test('another deposit’s quote, an item that was not shown, an unknown quote or deposit, and an invalid item are refused', async () => {
  const { quoteId } = await till.ask()
  const { deposit } = await createDeposit(till.deps, await aStore(till), {
    externalId: 'other',
    currency: 'EUR',
    backToStoreUrl: 'https://store.test/',
  })
  const otherHash = deposit.url.slice(-32)
  const refusals = [
    await ask({ hash: otherHash, quoteId, item: '1' }),
    await ask({ quoteId, item: '3' }),
    await ask({ quoteId: 'not a quote', item: '1' }),
    await ask({ quoteId: till.deps.ids.uuid(), item: '1' }),
    await ask({ hash: '0'.repeat(32), quoteId, item: '1' }),
    await ask({ quoteId, item: '1; drop' }),
  ]
  expect(refusals.map(({ statusCode, body }) => [statusCode, body.code])).toEqual([
    ...Array.from({ length: 4 }, () => [409, 'items_unavailable']),
    [404, 'deposit_not_found'],
    [400, 'invalid_request'],
  ])
})
