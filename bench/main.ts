/**
 * `npm run bench [-- NAME ...]`: each bench runs ours and what it is held against in turns in one run, and closes with
 * `NAME ours floor ratio limit PASS|FAIL`.
 *
 * - `start`: seconds until `npm start` is ready, on an empty data folder and on one that is there.
 * - `ready`: seconds until a release in live mode is ready on a database that stands, and the size of the release.
 * - `cli`: processor time of the operator's commands, beside bare `node -e 0`.
 * - `poll`: CPU time of an unchanged poll, beside bare node:http that answers 304; and the queries it asks.
 * - `deposit`: deposits a second through the whole path.
 * - `ledger`: credits a second on one hot store, beside the same rows in one statement, and beside the same transaction that
 *   locks its balance row first.
 * - `inventory`: CPU time of an inventory made into priced items, beside JSON.parse.
 * - `prices`: time of a refresh of 25,000 prices, and what pricing a basket takes meanwhile.
 * - `bytes`: what a browser loads before the page stands, in the language that needs more, gzipped, beside Checkout and Card of adyen-web.
 * - `lighthouse`: what Lighthouse gives the deposit page on a phone, and how much the page shifts while it loads.
 * - `line`: a payment opened at 400 kbit/s and 400 ms until its field stands, beside React with one field.
 * - `grid`: DOM nodes and main-thread time with 10,000 items, beside 100.
 * - `interaction`: from a tap or a key to the next paint on a phone with 5,000 items, beside 50.
 * - `search`: a keystroke in the search over 10,000 items, beside a bare scan of names that are folded already.
 * - `pick`: items for an amount in 1,000 drawn inventories: how often exact, never worse than by hand.
 * - `steam`: requests to Steam a deposit with 30 offers on one bot, and how soon an accept is known.
 * - `fleet`: 20 bots in two gateways, 200 shoppers at once, and bots that fail one after the other.
 * - `siege`: what honest shoppers wait for while one address, link or store is hostile, beside nobody hostile.
 * - `stores`: list, get and poll with 1,000,000 deposits in the table, beside 10,000.
 * - `webhooks`: how soon 95 of 100 events are with the store after their commit.
 * - `console`: every list, search and timeline of the operator's console with 1,000,000 deposits, beside 10,000.
 * - `year`: sweeps, credits and pages of a till that is a year old, beside the same one in its eleventh day.
 */
import { benchBytes } from './bytes.ts'
import { benchCli } from './cli.ts'
import { benchConsole } from './console.ts'
import { benchDeposit } from './deposit.ts'
import { benchFleet } from './fleet.ts'
import { benchGrid } from './grid.ts'
import { benchInteraction } from './interaction.ts'
import { benchInventory } from './inventory.ts'
import { benchLedger } from './ledger.ts'
import { benchLighthouse } from './lighthouse.ts'
import { benchLine } from './line.ts'
import { type Outcome, printOutcome } from './outcome.ts'
import { benchPick } from './pick.ts'
import { benchPoll } from './poll.ts'
import { benchPrices } from './prices.ts'
import { benchReady } from './ready.ts'
import { benchSearch } from './search.ts'
import { benchSiege } from './siege.ts'
import { benchStart } from './start.ts'
import { benchSteam } from './steam.ts'
import { benchStores } from './stores.ts'
import { benchWebhooks } from './webhooks.ts'
import { benchYear } from './year.ts'

const BENCHES: Record<string, () => Promise<Outcome>> = {
  start: benchStart,
  ready: benchReady,
  cli: benchCli,
  poll: benchPoll,
  console: benchConsole,
  deposit: benchDeposit,
  ledger: benchLedger,
  inventory: benchInventory,
  prices: benchPrices,
  bytes: benchBytes,
  lighthouse: benchLighthouse,
  line: benchLine,
  grid: benchGrid,
  interaction: benchInteraction,
  search: benchSearch,
  pick: benchPick,
  steam: benchSteam,
  fleet: benchFleet,
  siege: benchSiege,
  stores: benchStores,
  webhooks: benchWebhooks,
  year: benchYear,
}

const chosen = process.argv.slice(2)
for (const name of chosen.length > 0 ? chosen : Object.keys(BENCHES)) {
  const bench = BENCHES[name]
  if (bench === undefined)
    throw new Error(`There is no bench called ${name}: ${Object.keys(BENCHES).join(', ')}`)
  const outcome = await bench()
  printOutcome(outcome)
  if (!outcome.passed) process.exitCode = 1
}
