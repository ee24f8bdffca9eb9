import { expect, it } from 'vitest'
import { readFreeItems } from './look.ts'

const ASSET = { appid: 730, contextid: '2', assetid: '7', classid: '1' }
const DESCRIPTION = { classid: '1', market_hash_name: 'Case', tradable: true }

it.each([
  ['those of the page if no other follows', {}, ['7']],
  ['unknown if Steam does not say where the next page begins', { more_items: true }, undefined],
])('the free items of an account are %s', async (_what, more, expected) => {
  const response = { assets: [ASSET], descriptions: [DESCRIPTION], total_inventory_count: 1, ...more }
  const text = JSON.stringify({ response })
  const items = await readFreeItems(
    { steamId: '76561198000000009', api: async () => ({ kind: 'reply', status: 200, eresult: 1, text }) },
    730,
  )
  expect(items && [...items.keys()]).toEqual(expected)
})
