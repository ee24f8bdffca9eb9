import { z } from 'zod'
import { GAMES } from '../../contract/games.ts'
import type { Currency } from '../../contract/money.ts'
import { DEPOSIT_STATUSES } from '../../contract/statuses.ts'
import { listActs } from '../operations/acts.ts'
import { parseAmount } from '../operations/amount.ts'
import { showBot } from '../operations/bot-view.ts'
import { listBots } from '../operations/bots.ts'
import { listDepartures } from '../operations/departures.ts'
import { listDeposits } from '../operations/deposit-list.ts'
import { DEPOSIT_ORDERS } from '../operations/deposit-orders.ts'
import { showDeposit } from '../operations/deposits.ts'
import { listDrift } from '../operations/drift.ts'
import { find as findAll } from '../operations/find.ts'
import { ITEM_STATES } from '../operations/item-states.ts'
import { listItems } from '../operations/items.ts'
import { listMarkets } from '../operations/markets.ts'
import { refused } from '../operations/operation.ts'
import { listOperators } from '../operations/operators.ts'
import { showMoney, showOverview, showWeather } from '../operations/overview.ts'
import { listPayouts } from '../operations/payouts.ts'
import { listPrices, priceCoverage, showPrice } from '../operations/prices.ts'
import { listProposals } from '../operations/proposals.ts'
import { reportSales } from '../operations/sales.ts'
import { listShoppers, showShopper } from '../operations/shoppers.ts'
import { reportStore, showStatement } from '../operations/store-books.ts'
import { listStores, showStore } from '../operations/stores.ts'
import { listTrades } from '../operations/trades.ts'
import { listAttempts, listEndpoints } from '../operations/webhooks.ts'
import { listWishes } from '../operations/wishes.ts'
import { type Call, find } from './call.ts'
import { currency, id, nothing, page, steamId, text, time } from './input.ts'

/**
 * Parses a typed amount. Returns undefined if nothing was typed, and null if the amount is not valid in its currency.
 */
const amountOf = (typed: string | undefined, inCurrency: Currency = 'USD'): bigint | undefined | null =>
  typed === undefined ? undefined : (parseAmount(typed, inCurrency) ?? null)

const INVALID_AMOUNT = refused('usage', 'An amount must have its decimals, such as 850.00.')

export const FINDS: Record<string, Call> = {
  overview: find(nothing, (deps) => showOverview(deps)),
  deposit: find(z.object({ depositId: id }), (deps, { depositId }) => showDeposit(deps, depositId)),
  trades: find(z.object({ bot: text(20).optional() }), (deps, { bot }) => listTrades(deps, bot)),
  store: find(z.object({ storeId: id }), (deps, { storeId }) => showStore(deps, storeId)),
  find: find(z.object({ text: text(500) }), (deps, input) => findAll(deps, input.text)),
  deposits: find(
    z.object({
      ...page,
      storeId: id.optional(),
      status: z.enum(DEPOSIT_STATUSES).optional(),
      steamId: steamId.optional(),
      from: time.optional(),
      to: time.optional(),
      game: z.enum(GAMES).optional(),
      needsPerson: z.boolean().optional(),
      currency: currency.optional(),
      least: z.string().max(30).optional(),
      most: z.string().max(30).optional(),
      order: z.enum(DEPOSIT_ORDERS).optional(),
    }),
    (deps, { least, most, ...rest }) => {
      const [leastMinor, mostMinor] = [amountOf(least, rest.currency), amountOf(most, rest.currency)]
      if (leastMinor === null || mostMinor === null) return Promise.resolve(INVALID_AMOUNT)
      return listDeposits(deps, { ...rest, leastMinor, mostMinor })
    },
  ),
  // Stores are in ascending order, so the next page begins after the last store of this one.
  stores: find(z.object(page), (deps, { before, limit }) => listStores(deps, { after: before, limit })),
  statement: find(z.object({ ...page, storeId: id, currency }), showStatement),
  payouts: find(z.object({ ...page, storeId: id.optional() }), listPayouts),
  endpoints: find(
    z.object({ ...page, endpointId: id.optional(), failing: z.boolean().default(false) }),
    (deps, { before, ...rest }) => listEndpoints(deps, { ...rest, after: before }),
  ),
  attempts: find(z.object({ ...page, endpointId: id }), listAttempts),
  coverage: find(z.object({ game: z.enum(GAMES) }), (deps, { game }) => priceCoverage(deps, game)),
  report: find(z.object({ storeId: id, from: time, to: time, by: z.enum(['day', 'month']) }), reportStore),
  sales: find(z.object({ from: time, to: time }), reportSales),
  drift: find(nothing, (deps) => listDrift(deps)),
  shopper: find(z.object({ steamId }), (deps, input) => showShopper(deps, input.steamId)),
  bots: find(nothing, (deps) => listBots(deps)),
  bot: find(z.object({ bot: text(20) }), (deps, input) => showBot(deps, input.bot)),
  items: find(
    z.object({
      ...page,
      bot: text(20).optional(),
      state: z.enum(ITEM_STATES).optional(),
      asset: text(50).optional(),
    }),
    listItems,
  ),
  wishes: find(z.object({ ...page, open: z.boolean().optional() }), listWishes),
  markets: find(nothing, (deps) => listMarkets(deps)),
  departures: find(z.object(page), listDepartures),
  money: find(nothing, (deps) => showMoney(deps)),
  prices: find(nothing, (deps) => listPrices(deps)),
  price: find(z.object({ game: z.enum(GAMES), item: text() }), showPrice),
  weather: find(z.object({ method: text(60).optional(), bot: text(20).optional() }), showWeather),
  shoppers: find(nothing, (deps) => listShoppers(deps)),
  acts: find(
    z.object({ ...page, act: text(80).optional(), operator: text(80).optional(), since: time.optional() }),
    listActs,
  ),
  proposals: find(nothing, (deps) => listProposals(deps)),
  operators: find(nothing, (deps) => listOperators(deps)),
}
