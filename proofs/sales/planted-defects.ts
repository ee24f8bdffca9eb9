/** Known defects of what sells, put into the sources one at a time: the simulation must find each. */
import type { Change } from '../attacks/attack.ts'

const SELLER = 'vault/markets/seller.ts'
const DEAL = 'vault/markets/deal.ts'
const JUDGE = 'vault/markets/judge-due.ts'
const PRICE = 'vault/markets/price-policy.ts'

export const SALE_DEFECTS: Readonly<Record<string, readonly Change[]>> = {
  'what is on sale is listed once more': [
    {
      file: SELLER,
      from: 'lines.filter(({ assetId }) => liveListing(journal.book(), { appId, assetId }) === undefined)',
      to: '[...lines]',
    },
    {
      file: 'vault/markets/desk.ts',
      from: 'item.isTradable && !isBusy.has(item.assetId)',
      to: 'item.isTradable',
    },
  ],
  'an offer whose answer was lost is sent again': [
    {
      file: DEAL,
      from: "{ kind: 'abandon' } : { kind: 'look' }",
      to: "{ kind: 'abandon' } : { kind: 'send' }",
    },
  ],
  'an offer is sent before that is recorded': [
    { file: SELLER, from: "await journal.add({ kind: 'send_begun', ...of })", to: '' },
  ],
  'an offer is confirmed although the market has called its deal off': [
    { file: SELLER, from: 'if (!stands.value) {', to: 'if (false) {' },
  ],
  'an offer that nobody takes is never cancelled': [
    { file: DEAL, from: "if (openMs > CANCEL_AFTER_MS) return { kind: 'cancel' }", to: '' },
  ],
  'whatever a market asks for is given': [
    {
      file: JUDGE,
      from: 'if (!isOurs || listings.length !== due.assets.length || distinct !== due.assets.length)',
      to: 'if (due.assets.length === 0)',
    },
  ],
  'an account of ours may be the buyer': [
    { file: JUDGE, from: "if (ownAccounts.has(due.partnerSteamId)) return 'own_account'", to: '' },
  ],
  'an offer may have the message of a deposit': [
    { file: JUDGE, from: "if (DEPOSIT_MESSAGE.test(due.message)) return 'deposit_message'", to: '' },
  ],
  'what is still on sale is given': [
    {
      file: JUDGE,
      from: "if (!sold.every((row) => row?.stage === 'sold' || row?.stage === 'offer_out')) return 'not_sold'",
      to: '',
    },
  ],
  'an item is listed under its cost': [
    { file: PRICE, from: 'larger(larger(target, own), larger(cost, 1n))', to: 'larger(target, own)' },
  ],
  'others decide how cheap an item becomes': [
    {
      file: PRICE,
      from: 'const own = roundUp(knownMinor * rules.floorBp)',
      to: 'const own = 1n',
    },
    {
      file: PRICE,
      from: 'const cost = mayLose || costMinor === null ? 1n : roundUp(costMinor * (ALL_BP + rules.marginBp))',
      to: 'const cost = 1n',
    },
  ],
  'the till does not hear of a deal that came to nothing': [
    {
      file: 'vault/markets/reports.ts',
      from: "deal?.state === 'ended'",
      to: "deal?.state === 'delivered'",
    },
  ],
  'a market that says it pays more than the price is believed': [
    { file: SELLER, from: 'if (isTooMuch(listing, end))', to: 'if (listing === undefined)' },
  ],
  'an item that was given is cancelled without an alarm': [
    {
      file: 'gateway/departures/sale.ts',
      from: "to(isGiven(sale.state) ? 'late' : 'cancelled')",
      to: "to('cancelled')",
    },
  ],
}
