/**
 * Code whose statements on growing tables run only when somebody asks, never on a schedule. Maps a folder, a file, or a
 * file and function to somebody who asks. `proofs/store/query-plans.test.ts` limits the rows that many of these
 * statements read.
 */
export const ON_REQUEST: Readonly<Record<string, 'a shopper' | 'a store' | 'an operator' | 'a restore'>> = {
  'gateway/backups/store.ts': 'an operator',
  'gateway/bots/item-store.ts lockTradeOfItem': 'an operator',
  'gateway/bots/store.ts watchAgain': 'an operator',
  'gateway/bots/store.ts watchedOf': 'an operator',
  'gateway/bots/view-store.ts': 'an operator',
  'gateway/departures/books-store.ts custodyChangesOf': 'an operator',
  'gateway/departures/item-list-store.ts': 'an operator',
  'gateway/departures/list-store.ts': 'an operator',
  'gateway/departures/sale-list-store.ts': 'an operator',
  'gateway/departures/undone-move-store.ts': 'an operator',
  'gateway/departures/wish-store.ts selectWishes': 'an operator',
  'gateway/departures/wish-store.ts tradeOfDeposit': 'an operator',
  'gateway/departures/wish-store.ts withdrawWish': 'an operator',
  'gateway/deposits/store.ts depositExists': 'a shopper',
  'gateway/deposits/store.ts embedOriginOf': 'a shopper',
  'gateway/deposits/store.ts hasOpenOrDeliveredTrade': 'a shopper',
  'gateway/deposits/timeline-store.ts': 'an operator',
  'gateway/deposits/view-store.ts itemsOfTrades': 'a store',
  'gateway/deposits/view-store.ts pageOfDeposits': 'a store',
  'gateway/doctor/': 'an operator',
  'gateway/epochs/store.ts beginEpoch': 'a restore',
  'gateway/events/store.ts readDepositEvents': 'a store',
  'gateway/events/store.ts eventsAfter': 'a store',
  'gateway/inventory/quote-store.ts findPriceBasis': 'a shopper',
  'gateway/inventory/quote-store.ts pricesOfItems': 'a shopper',
  'gateway/inventory/store.ts readAnswer': 'a shopper',
  'gateway/inventory/store.ts withdrawRequest': 'a shopper',
  'gateway/ledger/operator-store.ts': 'an operator',
  'gateway/ledger/room-store.ts freeLostRoom': 'an operator',
  'gateway/ledger/verify.ts countEntries': 'an operator',
  'gateway/operations/': 'an operator',
  'gateway/operators/': 'an operator',
  'gateway/shoppers/on-release-store.ts onReleaseShoppers': 'an operator',
  'gateway/shoppers/on-release-store.ts endOnRelease': 'an operator',
  'gateway/shoppers/erasure-store.ts': 'an operator',
  'gateway/shoppers/store.ts openTradesWith': 'an operator',
  'gateway/store-api/idempotency-store.ts': 'a store',
  'gateway/stores/': 'a store',
  'gateway/webhooks/attempt-store.ts readAttempts': 'a store',
  'gateway/webhooks/endpoint-store.ts removeEndpoint': 'a store',
  'gateway/webhooks/replay-store.ts': 'a store',
  'gateway/webhooks/store.ts replayDeliveries': 'a store',
}

/**
 * Returns the entry that covers a file and function, such as `gateway/stores/store.ts findKey`; undefined if none does.
 */
export const onRequestEntry = (place: string): string | undefined =>
  Object.keys(ON_REQUEST).find((entry) =>
    entry.endsWith('/') ? place.startsWith(entry) : place === entry || place.startsWith(`${entry} `),
  )
