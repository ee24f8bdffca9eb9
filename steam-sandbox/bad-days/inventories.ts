import { field } from '../exchange.ts'
import type { Effect } from '../faults.ts'
import { type BadDay, changedJson, ERROR_PAGE } from './day.ts'

const INVENTORY = /^GET steamcommunity\.com\/(inventory\/|tradeoffer\/new\/partnerinventory\/)/

const on = (line: string, effect: Effect): BadDay => ({ line, at: INVENTORY, effect })

/** What may happen to inventories, the public page and the one for offers alike. */
export const INVENTORIES: Record<string, BadDay> = {
  'inventory-403-null': on('403 and `null`, as of a private one.', { status: 403, body: null }),
  'inventory-400-null': on('400 and `null`, as for too large a count.', { status: 400, body: null }),
  'inventory-429-null': on('429 and `null`.', { status: 429, body: null }),
  'inventory-429-html': on('429 and a page of HTML.', { status: 429, body: ERROR_PAGE }),
  'inventory-500-20': on('500 and an error with (20).', {
    status: 500,
    body: { error: 'The request could not be completed. (20)' },
  }),
  'inventory-no-success': on('`success: false`.', { status: 200, body: { success: false } }),
  'inventory-null': on('200 and `null`.', { status: 200, body: null }),
  'inventory-html': on('200 and a page of HTML.', { status: 200, body: ERROR_PAGE }),
  'inventory-no-assets': on(
    'A number of items, and no items.',
    changedJson((body) => ({
      success: 1,
      total_inventory_count: field(body, 'total_inventory_count') ?? 0,
      rwgrsn: -2,
    })),
  ),
  'inventory-slow': { ...on('Every page takes 4 seconds.', {}), delayMs: 4000 },
  'inventory-page-2-fails': {
    ...on('The second page is answered with 500 and `null`.', { status: 500, body: null }),
    when: ({ query }) => query.has('start_assetid') || Number(query.get('start') ?? 0) > 0,
  },
}
