/**
 * Defects to plant, one at a time, in the till's books of departures, wishes and sales, and in the vault's SQL. The
 * real level of the simulation must find each. Neither its checks nor the deposits that it pays before the sales use
 * the changed files.
 */
import type { Change } from '../attacks/attack.ts'

const WISH = 'gateway/departures/wish.ts'
const WISHES = 'gateway/departures/wish-store.ts'
const VAULT_REPORTS = 'gateway/departures/vault-report-store.ts'
const SALES = 'gateway/departures/sales.ts'
const SALE_STORE = 'gateway/departures/sale-store.ts'
const DEPARTURE = 'gateway/departures/departure.ts'
const BOOKS = 'gateway/departures/books-store.ts'
const VAULTS_WISHES = 'vault/wishes/store.ts'

export const TILL_DEFECTS: Readonly<Record<string, readonly Change[]>> = {
  'a wish stays open although the vault has ended it': [
    { file: WISHES, from: "deed.state in ('refused', 'ended')", to: "deed.state in ('refused')" },
  ],
  'a wish that was carried out stays open': [
    { file: WISHES, from: "or (deed.state = 'delivered' and", to: "or (deed.state = 'none' and" },
  ],
  'a gift of the vault causes an alarm': [
    { file: DEPARTURE, from: "if (isVaultsGift) return { kind: 'vault' }", to: '' },
  ],
  'an item that was taken back stays out of the books': [
    { file: DEPARTURE, from: 'return [...leftEvents, ...returnOf(known, given)]', to: 'return leftEvents' },
  ],
  'an item that left a bot stays in the books': [
    { file: BOOKS, from: 'if (item === undefined || item.botId !== botId) return', to: 'return' },
  ],
  'an item that came back is booked under a wrong asset id': [
    {
      file: BOOKS,
      from: 'await giveBack(tx, booking, { item, botId, as: asset.as })',
      to: "await giveBack(tx, booking, { item, botId, as: '7' })",
    },
  ],
  'reports are booked in the wrong order': [
    { file: VAULT_REPORTS, from: ".orderBy('n')\n", to: ".orderBy('n', 'desc')\n" },
  ],
  'a listing is booked for another item': [
    { file: SALE_STORE, from: 'and gone.new_asset_id = $', to: "and '' <> $" },
  ],
  'an item that was sold and came back stays sold': [
    { file: SALE_STORE, from: "['refused', 'cancelled', 'reversed']", to: "['refused', 'cancelled']" },
  ],
  'the state of a sale is not written': [
    { file: SALE_STORE, from: '.set({ ...columnsOf(sale), steps: step })', to: '.set({ steps: step })' },
  ],
  'the money of a sale is posted, and no balance changes': [
    { file: SALE_STORE, from: 'set balance = balance + changed.by', to: 'set balance = balance' },
  ],
  'the money of a sale is posted again with each report': [
    {
      file: SALES,
      from: 'movementsBetween(positionOf(known.sale), positionOf(sale))',
      to: 'movementsBetween(positionOf(newSale(sale.price)), positionOf(sale))',
    },
  ],
  'the fee is left out': [
    {
      file: SALES,
      from: 'movementsBetween(positionOf(known.sale), positionOf(sale))',
      to: "movementsBetween(positionOf(known.sale), positionOf(sale)).filter(({ debit, credit }) => debit !== 'fees' && credit !== 'fees')",
    },
  ],
  'an item is listed at the cost of another': [
    {
      file: 'vault/markets/till-store.ts',
      from: '[asset_id, BigInt(usd_cents)]',
      to: "[asset_id, BigInt(costs[0]?.usd_cents ?? '0')]",
    },
  ],
  'an item in an open wish is wished for again': [
    { file: WISH, from: '!wished.has(', to: '!new Set<string>().has(' },
  ],
  'only the first state of a wish is written': [
    {
      file: VAULTS_WISHES,
      from: 'update set state = excluded.state',
      to: 'update set state = vault_deed.state',
    },
  ],
  'the first place of an item counts as its last': [
    { file: BOOKS, from: 'asset_id, custody_entry.id desc', to: 'asset_id, custody_entry.id' },
  ],
  'the refund of a reversal is not written': [
    {
      file: SALE_STORE,
      from: '  refund,\n  causer,\n  steam_trade_id',
      to: '  refund: 0n,\n  causer,\n  steam_trade_id',
    },
  ],
}
