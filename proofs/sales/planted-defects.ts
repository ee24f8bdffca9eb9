/** Defects to plant, one at a time, in the code of sales and wishes. The simulation must find each. */
import type { Change } from '../attacks/attack.ts'

const LISTINGS = 'vault/markets/listings.ts'
const SELLER = 'vault/markets/seller.ts'
const DEAL = 'vault/markets/deal.ts'
const JUDGE = 'vault/markets/judge-due.ts'
const PRICE = 'vault/markets/price-policy.ts'
const SHOP = 'vault/markets/shop.ts'
const GIVER = 'vault/giving/giver.ts'

export const SALE_DEFECTS: Readonly<Record<string, readonly Change[]>> = {
  'an item on sale is listed again': [
    {
      file: LISTINGS,
      from: 'lines.filter(({ assetId }) => liveListing(journal.book(), { appId, assetId }) === undefined)',
      to: '[...lines]',
    },
    {
      file: SHOP,
      from: 'isTradable && !tied.has(assetId)',
      to: 'isTradable',
    },
  ],
  'an offer whose answer was lost is sent again': [
    {
      file: DEAL,
      from: "{ kind: 'abandon' } : { kind: 'look' }",
      to: "{ kind: 'abandon' } : { kind: 'send' }",
    },
  ],
  'an offer is sent before its record is written': [
    { file: SELLER, from: "journal.add({ kind: 'send_begun', ...ids })", to: '' },
  ],
  'an offer is confirmed although the market has called its deal off': [
    { file: SELLER, from: 'if (!wanted.value) {', to: 'if (false) {' },
    // Most such deals are so old that this line would cancel their offers.
    { file: DEAL, from: "if (intendedMs > CONFIRM_WITHIN_MS) return { kind: 'cancel' }", to: '' },
  ],
  'an offer that nobody takes is never cancelled': [
    { file: DEAL, from: "if (openMs > CANCEL_AFTER_MS) return { kind: 'cancel' }", to: '' },
  ],
  'every item that a market asks for is given': [
    {
      file: JUDGE,
      from: 'if (!isThisGame || listings.length !== due.assets.length || distinct !== due.assets.length)',
      to: 'if (due.assets.length === 0)',
    },
  ],
  'an account of ours may be the buyer': [
    { file: JUDGE, from: "if (ownAccounts.has(due.partnerSteamId)) return 'own_account'", to: '' },
  ],
  'an offer may have the message of a deposit': [
    { file: JUDGE, from: "if (looksLikeDeposit(due.message)) return 'deposit_message'", to: '' },
  ],
  'an item that is still on sale is given': [
    {
      file: JUDGE,
      from: "if (!sold.every((row) => row?.stage === 'sold' || row?.stage === 'offer_out')) return 'not_sold'",
      to: '',
    },
  ],
  'an item is listed below its cost': [
    {
      file: PRICE,
      from: 'larger(larger(targetMinor, ownFloorMinor), larger(costFloorMinor, 1n))',
      to: 'larger(targetMinor, ownFloorMinor)',
    },
  ],
  'other sellers decide how cheap an item becomes': [
    {
      file: PRICE,
      from: 'const ownFloorMinor = roundUp(knownMinor * rules.floorBp)',
      to: 'const ownFloorMinor = 1n',
    },
    {
      file: PRICE,
      from: 'const costFloorMinor = mayLose ? leastNetMinor : grossOf(leastNetMinor, feeBp)',
      to: 'const costFloorMinor = 1n',
    },
  ],
  'the till gets no report of a deal that came to nothing': [
    {
      file: 'vault/markets/reports.ts',
      from: "deal?.state === 'ended'",
      to: "deal?.state === 'delivered'",
    },
  ],
  'a market is believed when it says that it pays more than the price': [
    { file: SELLER, from: 'if (isTooMuch(listing, end))', to: 'if (listing === undefined)' },
  ],
  'the sale of an item that was given is cancelled without an alarm': [
    {
      file: 'gateway/departures/sale.ts',
      from: "changeTo(awaitsMoney(sale.state) ? 'late' : 'cancelled')",
      to: "changeTo('cancelled')",
    },
  ],
  'a deal whose trade failed never ends': [
    {
      file: SELLER,
      from: "if (result === 'failed') journal.add({ kind: 'offer_ended', ...ids, how: 'failed' })",
      to: '',
    },
  ],
  'an item that came back is listed before its market has reported the return': [
    { file: SHOP, from: 'isTied(each)', to: "(isTied(each) && each.state !== 'given')" },
  ],
  'the limits are ignored': [
    {
      file: 'vault/giving/judge.ts',
      from: "return isOver ? wait('the limits have no room now') : undefined",
      to: 'return isOver ? undefined : undefined',
    },
  ],
  'sales and wishes have separate limits': [
    {
      file: GIVER,
      from: 'sumOf(spentSince(book, since), parts.soldSince(since))',
      to: 'spentSince(book, since)',
    },
  ],
  'an item that is on sale is given by a wish': [
    {
      file: 'vault/giving/judge.ts',
      from: "if (context.isListed) return wait('an item is on sale')",
      to: '',
    },
  ],
  'an item on its way out is listed': [{ file: SHOP, from: ' && !leaving.has(assetId)', to: '' }],
  'an offer of a wish is sent again after its answer was lost': [
    {
      file: 'vault/giving/next-step.ts',
      from: "if (!isOver) return { kind: 'find', begunAt }",
      to: "if (!isOver) return { kind: 'send' }",
    },
  ],
  'an offer of a wish is sent before its record is written': [
    {
      file: GIVER,
      from: "context.note({ kind: 'send_begun', wish: wishId })\n  const sent",
      to: 'const sent',
    },
  ],
  'items go back to the approved account, even if another one sent them': [
    {
      file: GIVER,
      from: "if (giver !== partner.steamId) return { kind: 'refuse', because: 'somebody else sent the items' }",
      to: '',
    },
  ],
  'an offer of a wish that nobody accepts is never cancelled': [
    {
      file: 'vault/giving/next-step.ts',
      from: "return isAllowed && ageMs < ACCEPT_MS ? { kind: 'wait' } : { kind: 'cancel' }",
      to: "return isAllowed ? { kind: 'wait' } : { kind: 'cancel' }",
    },
  ],
  'a wish never ends after the trade of its offer failed': [
    { file: GIVER, from: "if (result === 'failed') return end(context, wishId, 'failed')", to: '' },
  ],
}
