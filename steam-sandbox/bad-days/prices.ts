import { type BadDay, DENIED_PAGE, type Effect, ERROR_PAGE } from './day.ts'

const onPrice = (line: string, effect: Effect): BadDay => ({
  line,
  at: /^GET steamcommunity\.com\/market\/priceoverview\//,
  effect,
})

export const PRICES: Record<string, BadDay> = {
  'price-403': onPrice('A request gets 403 and "Access is denied".', { status: 403, body: DENIED_PAGE }),
  'price-500': onPrice('A request gets 500 and an HTML page.', { status: 500, body: ERROR_PAGE }),
  'price-html': onPrice('A request gets 200 and an HTML page.', { status: 200, body: ERROR_PAGE }),
}
