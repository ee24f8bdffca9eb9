/**
 * `npm run bench [-- NAME ...]`: runs the benches. A bench with a comparison measures our code and the comparison in the
 * same run. Each bench ends with the line `NAME ours floor ratio limit PASS|FAIL`, in which `floor` is the comparison.
 *
 * - `start`: seconds until `npm start` is ready, on an empty data folder and on an existing one.
 * - `ready`: seconds until a release in live mode is ready on an existing database, and the size of the release.
 * - `cli`: processor time of the operator's commands, compared with bare `node -e 0`.
 * - `poll`: CPU time and queries of a poll that finds nothing new, compared with bare node:http that answers 304.
 * - `deposit`: deposits per second, from opening a deposit to its credit.
 * - `ledger`: credits per second of one busy store, compared with the same rows in one statement, and with a
 *   transaction that locks the balance first.
 * - `inventory`: CPU time of parsing an inventory into priced items, compared with JSON.parse alone.
 * - `prices`: time of a refresh of 25,000 prices, and of pricing a basket during it.
 * - `bytes`: gzipped bytes until the link field works, in the language that needs most, compared with Checkout
 *   and Card of adyen-web.
 * - `lighthouse`: Lighthouse's scores for the deposit page on a phone, and how much the page shifts while it loads.
 * - `line`: time until the field for the trade link works at 400 kbit/s with a latency of 400 ms, compared with a page
 *   that has only React and one field.
 * - `grid`: DOM nodes and main-thread time with 10,000 items, compared with 100.
 * - `interaction`: time from a tap or key to the next paint on a phone with 5,000 items, compared with 50.
 * - `search`: time of a keystroke in the search over 10,000 items, compared with a bare scan of lower-case names.
 * - `pick`: how often items proposed for an amount match it exactly, and how often they are worse than a person's
 *   choice, in 1,000 random inventories for each of three seeds.
 * - `steam`: requests to Steam per deposit with 30 offers on one bot, and how soon an acceptance is known.
 * - `fleet`: 20 bots in two gateways and 200 shoppers at once, or more on a large machine, while bots fail one after the
 *   other.
 * - `siege`: waiting times of honest shoppers while one address, link or store is hostile, compared with waiting
 *   times without an attacker.
 * - `stores`: list, get and poll with 1,000,000 deposits in the table, compared with 10,000.
 * - `webhooks`: how soon 95 of 100 events reach the store after their commit.
 * - `console`: lists, searches and the timeline of the operator's console with 1,000,000 deposits, compared with
 *   10,000.
 * - `year`: sweeps, credits and pages of a till that is a year old, compared with a till that is eleven days old.
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
