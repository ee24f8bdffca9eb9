import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { control, get, logIn, type Person, startSteamWithoutWaits } from '../conformance/libraries.ts'

let steam: Awaited<ReturnType<typeof startSteamWithoutWaits>>
let bot: Person

beforeAll(async () => {
  steam = await startSteamWithoutWaits({ seed: 'prices', quotas: false })
  bot = await logIn(steam, 'Tradetill Bot #1')
})
beforeEach(() => steam.reset())
afterAll(() => steam.close())

async function readPrice(name: string): Promise<{ status: number; body: string }> {
  const query = new URLSearchParams({ appid: '730', currency: '1', market_hash_name: name })
  const url = `https://steamcommunity.com/market/priceoverview/?${query}`
  const { status, body } = await get(bot.community, url)
  return { status, body: String(body) }
}

it('a known item has a price in dollars, and an unknown item is answered with 500', async () => {
  const { status, body } = await readPrice('AK-47 | Redline (Field-Tested)')
  expect(status).toBe(200)
  expect(JSON.parse(body)).toMatchObject({
    success: true,
    lowest_price: expect.stringMatching(/^\$\d+\.\d\d$/),
  })
  expect(await readPrice('AK-47 | Unknown')).toEqual({ status: 500, body: '{"success":false}' })
})

it.each([
  ['price-403', 403, 'Access is denied.'],
  ['price-500', 500, '<html>'],
  ['price-html', 200, '<html>'],
])('with the behaviour "%s", Steam answers with status %i and a page', async (behaviour, status, text) => {
  await control(steam, `PUT behaviours/${behaviour}`)
  const answer = await readPrice('AK-47 | Redline (Field-Tested)')
  expect(answer.status).toBe(status)
  expect(answer.body).toContain(text)
})
