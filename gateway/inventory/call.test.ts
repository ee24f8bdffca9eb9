import { gunzipSync } from 'node:zlib'
import { type FastifyInstance, fastify } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { inventorySchema } from '../../contract/widget-api.ts'
import type { Rate } from '../http/limits.ts'
import { handleErrors } from '../http/problem.ts'
import { parsePartnerPage, parsePublicPage } from '../steam/parse.ts'
import type { SteamItem } from '../steam/steam.ts'
import { anItem, type StockedTill, setPrices, startStockedTill } from '../testing/inventory.ts'
import { fc } from '../testing/property.ts'
import { description, inventoryPage } from '../testing/steam-page.ts'
import { inventoryRoutes } from './routes.ts'

const MAX_GZIP_BYTES = 150 * 1024
/** A limit that no test reaches. */
const AMPLE = { perSecond: 1, burst: 1_000_000 }

let till: StockedTill
let app: FastifyInstance

beforeEach(async () => {
  till = await startStockedTill()
  app = fastify().setValidatorCompiler(validatorCompiler).setSerializerCompiler(serializerCompiler)
  await app.register(inventoryRoutes(till.deps))
})
afterEach(async () => {
  await app.close()
  await till.close()
})

/** Makes a browser's call. Every call asks Steam again. */
async function call(items: SteamItem[], headers: Record<string, string> = {}) {
  till.steam.owned = { kind: 'items', items }
  till.clock.advance(61_000)
  return till.withBot(async () => app.inject({ url: `/api/inventory?hash=${till.hash}&game=cs`, headers }))
}

describe('the inventory call', () => {
  /** The page's calls with these limits, by the test's clock. */
  async function openBounded(limits: { items: Rate; firstItems: Rate; itemsOfAddress: Rate }) {
    const clock = { nowMs: 0 }
    const bounded = fastify()
      .setValidatorCompiler(validatorCompiler)
      .setSerializerCompiler(serializerCompiler)
    handleErrors(bounded, till.deps.log)
    await bounded.register(inventoryRoutes(till.deps, { ...limits, nowMs: () => clock.nowMs }))
    onTestFinished(() => bounded.close())
    const ask = (remoteAddress?: string) =>
      bounded.inject({
        url: `/api/inventory?hash=${till.hash}&game=cs`,
        ...(remoteAddress !== undefined && { remoteAddress }),
      })
    return { clock, ask }
  }
  const THREE_ITEMS = [anItem('1', 'Knife'), anItem('2', 'Knife', { tradable: false }), anItem('3', 'Case')]
  const FEW = { perSecond: 2, burst: 5 }

  test('allows each link a burst of items, and then a number of items per second', async () => {
    const { clock, ask } = await openBounded({ items: FEW, firstItems: FEW, itemsOfAddress: AMPLE })
    // Each answer costs its three items. Calls are refused while the balance is not above zero.
    await call(THREE_ITEMS)
    const answer = async () => {
      const { statusCode, headers } = await ask()
      return [statusCode, headers['retry-after']]
    }
    expect([await answer(), await answer(), await answer()]).toEqual([
      [200, undefined],
      [200, undefined],
      [429, '5'],
    ])
    clock.nowMs = 1_000
    expect([await answer(), await answer()]).toEqual([
      [200, undefined],
      [429, '5'],
    ])
  })

  /** The statuses of calls from these addresses, one after the other. */
  const statuses = async (ask: (address: string) => Promise<{ statusCode: number }>, addresses: string[]) => {
    const codes = []
    for (const address of addresses) codes.push((await ask(address)).statusCode)
    return codes
  }
  /** The first answer uses this up. */
  const ONE_FIRST = { perSecond: 0, burst: 1 }

  test('limits the items of an address too, because one caller with many deposits could use up the processor', async () => {
    const { clock, ask } = await openBounded({ items: AMPLE, firstItems: ONE_FIRST, itemsOfAddress: FEW })
    await call(THREE_ITEMS)
    // The addresses of a /64 are one caller's.
    expect(await statuses(ask, ['2001:db8::1', '2001:db8::2', '2001:db8::3'])).toEqual([200, 200, 429])
    expect((await ask('203.0.113.9')).statusCode).toBe(200)
    clock.nowMs = 1_000
    expect((await ask('2001:db8::4')).statusCode).toBe(200)
  })

  test('limits the items of a /48 to those of 16 addresses', async () => {
    const { ask } = await openBounded({ items: AMPLE, firstItems: ONE_FIRST, itemsOfAddress: FEW })
    await call(THREE_ITEMS)
    // The /48 may read 16 times 5 items: 27 answers reach that.
    const networks = Array.from({ length: 28 }, (_, index) => `2001:db8:0:${index.toString(16)}::1`)
    expect(await statuses(ask, networks)).toEqual([...Array(27).fill(200), 429])
  })

  test('allows each link its first items even if others have used up the limit of the address', async () => {
    const firstItems = { perSecond: 0, burst: 7 }
    const { ask } = await openBounded({
      items: AMPLE,
      firstItems,
      itemsOfAddress: { perSecond: 0, burst: 1 },
    })
    await call(THREE_ITEMS)
    // Each answer counts against both limits. The first uses up the address's, and the third the link's first items.
    expect(await statuses(ask, Array(4).fill('203.0.113.9'))).toEqual([200, 200, 200, 429])
  })

  test('prices at most four inventories of an address at a time, and at most six in all', async () => {
    await call([anItem('1', 'Knife')])
    let running = 0
    let most = 0
    const deps = {
      ...till.deps,
      // Read when the pricing of an answer begins.
      get rules() {
        running += 1
        most = Math.max(most, running)
        return till.deps.rules
      },
      // Called after an answer is priced.
      protectionDays: () => {
        running -= 1
        return 8
      },
    }
    const busy = fastify().setValidatorCompiler(validatorCompiler).setSerializerCompiler(serializerCompiler)
    await busy.register(inventoryRoutes(deps))
    const ask = (remoteAddress: string) =>
      busy.inject({ url: `/api/inventory?hash=${till.hash}&game=cs`, remoteAddress })
    const answers = await Promise.all(Array.from({ length: 16 }, () => ask('203.0.113.9')))
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(16).fill(200))
    expect(most).toBe(4)
    await Promise.all(Array.from({ length: 16 }, (_, n) => ask(`203.0.113.${n}`)))
    expect(most).toBe(6)
    expect(running).toBe(0)
    await busy.close()
  })

  test('A-043 is answered with at most 150 KB, compressed, for 5,000 items', async () => {
    const { page, names } = inventoryPage(5_000)
    // All prices differ, because equal ones would compress too well.
    await setPrices(
      till,
      Object.fromEntries(names.map((name, index) => [name, 1_000_000n + BigInt(index) * 51_713n])),
    )
    const items = parsePartnerPage(page)?.items ?? []
    const answer = await call(items, { 'accept-encoding': 'gzip, deflate, br, zstd' })
    expect(answer.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' })
    expect(answer.rawPayload.length).toBeLessThanOrEqual(MAX_GZIP_BYTES)
    const inventory = inventorySchema.parse(JSON.parse(gunzipSync(answer.rawPayload).toString()))
    expect(inventory.items).toHaveLength(5_000)
    expect(inventory.items.map(({ id }) => id)).toEqual(items.map(({ assetId }) => assetId))
    expect(inventory.items[0]).toEqual({
      id: items[0]?.assetId,
      name: 'StatTrak™ AK-47 | Redline',
      iconUrl: `https://img.test/economy/image/class/730/${items[0]?.classId}/100fx100f`,
      price: 72,
      rarity: 'rarity-1',
      rarityName: 'Common',
      wearCategory: 'WearCategory0',
      isStatTrak: true,
    })
  })

  test.each([
    ['names no encoding', {}],
    ['accepts only identity', { 'accept-encoding': 'identity' }],
    ['accepts only br', { 'accept-encoding': 'br' }],
    ['refuses gzip', { 'accept-encoding': 'gzip;q=0' }],
    ['refuses gzip before another encoding', { 'accept-encoding': 'gzip;q=0 , br' }],
  ])('does not compress the answer if the browser %s', async (_what, headers: Record<string, string>) => {
    const many = Array.from({ length: 50 }, (_, index) => anItem(String(index), 'Knife'))
    const answer = await call(many, headers)
    expect(answer.headers['content-encoding']).toBeUndefined()
    expect(answer.json()).toMatchObject({ items: { length: 50 } })
  })
})

/** Steam's page with one knife. `change` changes its description, `owned` its asset. */
const pageOf = (change: Record<string, unknown>, owned: object = {}) => ({
  success: true,
  rgInventory: { '7': { id: '7', classid: '1', instanceid: '0', amount: '1', ...owned } },
  rgDescriptions: { '1_0': { ...description({ market_hash_name: 'Knife', name: 'Knife' }), ...change } },
})
const read = (page: unknown) => parsePartnerPage(page)?.items ?? []

describe('incomplete, repeated or hostile data from Steam', () => {
  test.each([
    ['a name of 10,000 characters', { name: 'x'.repeat(10_000) }, 'x'.repeat(200)],
    ['marks that reverse the text', { name: '\u202eefinK\u202c\u2067\u200f' }, 'efinK'],
    ['HTML in its name', { name: '<img src=x onerror=alert(1)>' }, '<img src=x onerror=alert(1)>'],
    ['control characters in its name', { name: 'Kni\u0000fe\n' }, 'Knife'],
    ['a name cut inside a character', { name: 'Knife\ud83d' }, 'Knife\ufffd'],
    ['invalid tags', { tags: [1, null, { category: 5 }] }, 'Knife'],
    [
      'a hundred tags',
      { tags: Array.from({ length: 100 }, () => ({ category: 'a', internal_name: 'b' })) },
      'Knife',
    ],
    ['no tags', { tags: undefined }, 'Knife'],
    ['a picture that is a script', { icon_url: 'javascript:alert(1)' }, 'Knife'],
  ])('an item with %s is shown, harmlessly', async (_what, change, name) => {
    const answer = await call(read(pageOf(change)))
    expect(answer.statusCode).toBe(200)
    expect(inventorySchema.parse(answer.json()).items).toMatchObject([
      { id: '7', name, iconUrl: 'https://img.test/economy/image/class/730/1/100fx100f' },
    ])
  })

  test.each([
    ['a name of the wrong type', { name: 5 }, {}, 'unknownItem'],
    ['no market name', { market_hash_name: undefined }, {}, 'unknownItem'],
    ['an object as the market name', { market_hash_name: { toString: 'Knife' } }, {}, 'unknownItem'],
    ['no description at all', {}, { classid: '404' }, 'unknownItem'],
    ['a market name that only looks like another', { market_hash_name: 'Knif\u0435' }, {}, 'noPrice'],
    ['a market name of 10,000 characters', { market_hash_name: 'Knife'.repeat(2_000) }, {}, 'noPrice'],
    ['a word in place of the number `tradable`', { tradable: 'yes' }, {}, 'notTradable'],
    ['a negative amount', {}, { amount: '-1' }, 'unknownItem'],
    ['an amount of zero', {}, { amount: '0' }, 'unknownItem'],
    ['an amount of 40', {}, { amount: '40' }, 'stack'],
    ['an infinite amount', {}, { amount: '1e999' }, 'unknownItem'],
    ['an amount of one half', {}, { amount: '0.5' }, 'unknownItem'],
    ['an amount in words', {}, { amount: 'one' }, 'unknownItem'],
  ])('an item with %s is counted, not shown', async (_what, change, owned, reason) => {
    const answer = await call(read(pageOf(change, owned)))
    expect(answer.statusCode).toBe(200)
    const { items, unavailableByReason } = inventorySchema.parse(answer.json())
    expect({ items, unavailableByReason }).toEqual({ items: [], unavailableByReason: { [reason]: 1 } })
  })

  test('an item without an amount counts as one', async () => {
    const answer = await call(read(pageOf({}, { amount: undefined })))
    expect(inventorySchema.parse(answer.json()).items).toMatchObject([{ id: '7', name: 'Knife' }])
  })

  test('an id that is repeated counts once, even if both of Steam’s kinds of page have it', async () => {
    const row = { appid: 730, contextid: '2', assetid: '7', classid: '1', instanceid: '0', amount: '1' }
    const descriptions = [description({ classid: '1', instanceid: '0', market_hash_name: 'Knife' })]
    const shown = parsePublicPage({ success: 1, assets: [row, row, row], descriptions })?.items ?? []
    const answer = await call([...read(pageOf({})), ...shown])
    expect(answer.json()).toMatchObject({ items: [{ id: '7' }], unavailableItems: 0 })
  })

  test('the answer is valid whatever Steam sends', async () => {
    const value = fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary', maxLength: 300 }), fc.constant('1'))
    const owned = fc.record(
      { id: value, classid: value, instanceid: value, amount: value },
      { requiredKeys: [] },
    )
    const described = fc.record(
      { name: value, market_hash_name: value, tradable: value, icon_url: value, tags: value },
      { requiredKeys: [] },
    )
    const page = fc.record({
      success: fc.constant(true),
      rgInventory: fc.dictionary(fc.string(), fc.oneof(owned, value)),
      rgDescriptions: fc.dictionary(fc.constantFrom('1_0', '1_1', '__proto__'), fc.oneof(described, value)),
    })
    const pages = fc.sample(page, { numRuns: 300, seed: 5 })
    const items = pages.flatMap(read).map((item, index) => ({ ...item, assetId: `${index}` }))
    expect(items.length).toBeGreaterThan(50)
    const answer = await call(items)
    expect(answer.statusCode).toBe(200)
    const { items: shown, unavailableItems } = inventorySchema.parse(answer.json())
    expect(shown.length + unavailableItems).toBe(items.length)
  })
})
