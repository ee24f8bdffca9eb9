import { field } from '../http.ts'
import { type BadDay, changedJson, type Effect, ERROR_PAGE, isRow } from './day.ts'

const INVENTORY = /^GET steamcommunity\.com\/(inventory\/|tradeoffer\/new\/partnerinventory\/)/

const onInventory = (line: string, effect: Effect): BadDay => ({ line, at: INVENTORY, effect })

/** Hostile names that owners gave their items. A page must show them as text, without overflowing. */
const HOSTILE_NAMES = [
  'x'.repeat(10_000),
  '\u202etxet kcab\u2067\u200f',
  '<script>window.ran = 1</script>',
  '<img src=x onerror="window.ran = 1">',
  '"><svg onload=window.ran=1>',
  '\ufdfd'.repeat(200),
  `Z${'\u0335\u0351\u0489'.repeat(60)}`,
]

/** Gives the items these names in turn. Each `market_hash_name` stays the same, so the prices do too. */
function giveHostileNames(body: unknown): unknown {
  if (!isRow(body)) return body
  const [descriptions, key] = [
    body.descriptions ?? body.rgDescriptions,
    body.descriptions ? 'descriptions' : 'rgDescriptions',
  ]
  if (typeof descriptions !== 'object' || descriptions === null) return body
  const renamed = Object.entries(descriptions).map(([id, row], index) => {
    const name = HOSTILE_NAMES[index % HOSTILE_NAMES.length]
    return [id, { ...row, name, market_name: name }] as const
  })
  return {
    ...body,
    [key]: Array.isArray(descriptions) ? renamed.map(([, row]) => row) : Object.fromEntries(renamed),
  }
}

/** Faults of inventories, on the public page and on the page for offers. */
export const INVENTORIES: Record<string, BadDay> = {
  'inventory-403-null': onInventory('A request gets 403 and `null`, as for a private inventory.', {
    status: 403,
    body: null,
  }),
  'inventory-400-null': onInventory('A request gets 400 and `null`, as for a count that is too large.', {
    status: 400,
    body: null,
  }),
  'inventory-429-null': onInventory('A request gets 429 and `null`.', { status: 429, body: null }),
  'inventory-429-html': onInventory('A request gets 429 and an HTML page.', {
    status: 429,
    body: ERROR_PAGE,
  }),
  'inventory-500-20': onInventory('A request gets 500 and an error text with (20).', {
    status: 500,
    body: { error: 'The request could not be completed. (20)' },
  }),
  'inventory-no-success': onInventory('A request gets `success: false`.', {
    status: 200,
    body: { success: false },
  }),
  'inventory-null': onInventory('A request gets 200 and `null`.', { status: 200, body: null }),
  'inventory-html': onInventory('A request gets 200 and an HTML page.', { status: 200, body: ERROR_PAGE }),
  'inventory-no-assets': onInventory(
    'The answer has a total count, but no items.',
    changedJson((body) => ({
      success: 1,
      total_inventory_count: field(body, 'total_inventory_count') ?? 0,
      rwgrsn: -2,
    })),
  ),
  'inventory-hostile-names': onInventory(
    'The names of items contain HTML, scripts, 10,000 letters, or marks that reverse the text.',
    changedJson(giveHostileNames),
  ),
  'inventory-slow': { ...onInventory('Every page takes 4 seconds.', {}), delayMs: 4000 },
  'inventory-page-2-fails': {
    ...onInventory('The second page gets 500 and `null`.', { status: 500, body: null }),
    when: ({ query }) => query.has('start_assetid') || Number(query.get('start') ?? 0) > 0,
  },
}
