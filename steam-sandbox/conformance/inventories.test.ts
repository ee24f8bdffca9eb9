import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  control,
  failure,
  get,
  inventoryOf,
  logIn,
  type Person,
  startSteamWithoutWaits,
} from './libraries.ts'
import { testsOfRows } from './rows.ts'

let steam: Awaited<ReturnType<typeof startSteamWithoutWaits>>
let bot: Person

beforeAll(async () => {
  steam = await startSteamWithoutWaits({ seed: 'conformance' })
  bot = await logIn(steam, 'Tradetill Bot #1')
})
beforeEach(() => steam.reset())
afterAll(() => steam.close())

const nova = () => steam.as('nova_hound').steamId
const publicPage = (query: string) =>
  get(bot.community, `https://steamcommunity.com/inventory/${nova()}/730/2?${query}`)
const partnerPage = (who: string, query = '') => {
  const { steamId } = steam.as(who)
  const path = `tradeoffer/new/partnerinventory/?partner=${steamId}&appid=730&contextid=2&l=english${query}`
  return get(bot.community, `https://steamcommunity.com/${path}`)
}

async function readWithFault(behaviour: string) {
  await control(steam, `PUT behaviours/${behaviour}`, { times: 1 })
  const error = await failure(inventoryOf(bot.community, nova()))
  expect((await inventoryOf(bot.community, nova())).length).toBeGreaterThan(0)
  await control(steam, `PUT behaviours/${behaviour}`, { times: 1 })
  return { error, partner: await partnerPage('nova_hound') }
}

describe('the answers of an inventory:', () => {
  const { row, expectAllTested } = testsOfRows('inventories')

  row('403 null', async () => {
    const { error, partner } = await readWithFault('inventory-403-null')
    expect(error.message).toBe('This profile is private.')
    expect(partner).toMatchObject({ status: 403, body: 'null' })
    const { steamId } = steam.as('magic_hidden')
    expect((await failure(inventoryOf(bot.community, steamId))).message).toBe('This profile is private.')
    expect(String((await partnerPage('magic_hidden')).body)).toMatch(/"success":false.*private/)
  })

  row('429 null', async () => {
    const { error, partner } = await readWithFault('inventory-429-null')
    expect(error.message).toBe('HTTP error 429')
    expect(partner).toMatchObject({ status: 429, body: 'null' })
    expect(partner.headers).not.toHaveProperty('retry-after')
  })

  row('429 HTML', async () => {
    const { error, partner } = await readWithFault('inventory-429-html')
    expect(error.message).toBe('HTTP error 429')
    expect(String(partner.body)).toContain('<html>')
  })

  row('400 for too large a count', async () => {
    expect(await publicPage('count=5000')).toMatchObject({ status: 400, body: 'null' })
    expect((await publicPage('count=2000')).status).toBe(200)
    expect((await readWithFault('inventory-400-null')).error.message).toBe('HTTP error 400')
  })

  row('500 error (20)', async () => {
    expect((await readWithFault('inventory-500-20')).error).toMatchObject({
      message: 'The request could not be completed.',
      eresult: '20',
    })
    const { steamId } = steam.as('magic_no_game')
    const error = await failure(inventoryOf(bot.community, steamId))
    expect(error.message).toContain('EYldRefreshAppIfNecessary failed with EResult 55')
    expect(String((await partnerPage('magic_no_game')).body)).toContain('"rgInventory":[]')
  })

  row('success: false', async () => {
    expect((await readWithFault('inventory-no-success')).error.message).toBe('Malformed response')
  })

  row('null', async () => {
    expect((await readWithFault('inventory-null')).error.message).toBe('Malformed JSON response')
  })

  row('HTML', async () => {
    expect((await readWithFault('inventory-html')).error.message).toBe('Malformed response')
  })

  row('no assets', async () => {
    await control(steam, 'PUT behaviours/inventory-no-assets', { times: 2 })
    expect(await inventoryOf(bot.community, nova())).toEqual([])
    const { body } = await publicPage('count=75')
    expect(String(body)).toMatch(/"total_inventory_count":72/)
    expect(String(body)).not.toContain('"assets"')
  })

  row('slow', async () => {
    await control(steam, 'PUT behaviours/inventory-slow', { times: 1 })
    expect((await failure(inventoryOf(bot.community, nova()))).message).toBe('ESOCKETTIMEDOUT')
    expect(steam.waits).toEqual([4_000])
    expect((await inventoryOf(bot.community, nova())).length).toBeGreaterThan(0)
  })

  row('page 2 failing', async () => {
    await control(steam, 'PUT behaviours/inventory-page-2-fails')
    expect((await inventoryOf(bot.community, nova())).length).toBeGreaterThan(60)
    const { steamId } = steam.as('magic_hoarder')
    expect((await failure(inventoryOf(bot.community, steamId))).message).toBe('HTTP error 500')
    expect((await partnerPage('magic_hoarder', '&start=1000')).status).toBe(500)
    await control(steam, 'DELETE behaviours/inventory-page-2-fails')
    const allItems = await inventoryOf(bot.community, steamId, { tradableOnly: false })
    expect(allItems).toHaveLength(5000)
    expect(String((await partnerPage('magic_hoarder')).body)).toMatch(/"more":true,"more_start":1000/)
  })

  expectAllTested()
})

test('a Doppler has its paint number among its properties on the public page and on the page for offers', async () => {
  const dopplers = (await inventoryOf(bot.community, nova())).filter((item) =>
    item.market_hash_name.includes('Doppler'),
  )
  const [id] = dopplers.map(({ assetid }) => assetid)
  const shown = JSON.parse(String((await publicPage('count=2000')).body))
  const offered = JSON.parse(String((await partnerPage('nova_hound')).body))
  const paint = expect.arrayContaining([expect.objectContaining({ propertyid: 7, int_value: '415' })])
  expect(shown.asset_properties).toContainEqual(
    expect.objectContaining({ appid: 730, assetid: id, asset_properties: paint }),
  )
  expect(offered.rgAssetProperties).toMatchObject({ [String(id)]: paint })
})

test('items can have hostile names on the public page and the page for offers, but keep their `market_hash_name`', async () => {
  const itemsBefore = await inventoryOf(bot.community, nova())
  await control(steam, 'PUT behaviours/inventory-hostile-names', { times: 2 })
  const items = await inventoryOf(bot.community, nova())
  const marketNames = (ofItems: typeof items) => ofItems.map((item) => item.market_hash_name)
  expect(marketNames(items)).toEqual(marketNames(itemsBefore))
  for (const name of ['x'.repeat(10_000), '<script>window.ran = 1</script>']) {
    expect(items).toContainEqual(expect.objectContaining({ name }))
  }
  expect(String((await partnerPage('nova_hound')).body)).toContain('<script>window.ran = 1</script>')
  expect(await inventoryOf(bot.community, nova())).toEqual(itemsBefore)
})
