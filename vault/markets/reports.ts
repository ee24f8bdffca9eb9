/** The reports for the till's books that follow from each entry of the record. Pure. */
import type { SaleReport } from '../../contract/sale-report.ts'
import type { Book, Deal, SaleEntry } from './book.ts'
import { dealKey, liveListing, timesListed } from './book.ts'
import type { Outcome } from './market.ts'

/** `reference`: the market's number of the listing; see `referenceOf`. */
export type TillReport =
  | {
      kind: 'listing'
      market: string
      reference: string
      appId: number
      listedAssetId: string
      price: bigint
    }
  | { kind: 'report'; market: string; reference: string; report: SaleReport }
  /** `assets`: sorted, as `app/asset`. The till compares the items that leave its bots with them. */
  | { kind: 'gift'; market: string; reference: string; partnerSteamId: string; assets: readonly string[] }

/** `book`: its state after the entry. `isBot`: the account collects deposits, so the till watches its items. */
export function reportsOf(book: Book, entry: SaleEntry, isBot: (account: string) => boolean): TillReport[] {
  const { market } = entry
  const report = (itemId: string, saleReport: SaleReport): TillReport => ({
    kind: 'report',
    market,
    reference: referenceOf(book, { market, itemId }),
    report: saleReport,
  })
  switch (entry.kind) {
    case 'listed': {
      const { appId, assetId } = entry
      const price = liveListing(book, { appId, assetId })?.priceMinor
      return price === undefined
        ? []
        : [
            {
              kind: 'listing',
              market,
              reference: referenceOf(book, entry),
              appId,
              listedAssetId: assetId,
              price,
            },
          ]
    }
    case 'repriced':
      return [report(entry.itemId, { kind: 'repriced', price: entry.priceMinor })]
    case 'unlisted':
      return [report(entry.itemId, { kind: 'unlisted' })]
    case 'deal_intended': {
      const { account, itemIds } = entry
      const sold = itemIds.map((itemId) => report(itemId, { kind: 'sold' }))
      return account !== null && isBot(account) ? [giftOf(book, entry), ...sold] : sold
    }
    case 'delivered': {
      const { steamTradeId } = entry
      const itemIds = dealOf(book, market, entry.dealId)?.itemIds ?? []
      return itemIds.map((itemId) => report(itemId, { kind: 'delivered', steamTradeId }))
    }
    // Nothing was given. The market may never report the end of such a sale, so the vault does.
    case 'send_refused':
    case 'abandoned':
    case 'offer_ended': {
      const deal = dealOf(book, market, entry.dealId)
      return deal?.state === 'ended'
        ? deal.itemIds.map((itemId) => report(itemId, { kind: 'cancelled' }))
        : []
    }
    case 'outcome': {
      const saleReport = reportOf(entry.end)
      return saleReport === undefined ? [] : [report(entry.itemId, saleReport)]
    }
    default:
      return []
  }
}

function giftOf(book: Book, entry: Extract<SaleEntry, { kind: 'deal_intended' }>): TillReport {
  const { market, itemIds, due } = entry
  return {
    kind: 'gift',
    market,
    reference: referenceOf(book, { market, itemId: itemIds[0] ?? '' }),
    partnerSteamId: due.partnerSteamId,
    assets: due.assets.map(({ appId, assetId }) => `${appId}/${assetId}`).sort(),
  }
}

/** The books have one row per listing, so a number that the market reuses gets a counter as a suffix. */
function referenceOf(book: Book, item: { market: string; itemId: string }): string {
  const times = timesListed(book, item)
  return times > 1 ? `${item.itemId}.${times}` : item.itemId
}

const dealOf = (book: Book, market: string, dealId: string): Deal | undefined =>
  book.deals.get(dealKey(market, dealId))

function reportOf(end: Outcome['end']): SaleReport | undefined {
  switch (end.kind) {
    case 'pending':
      return undefined
    case 'settling':
      return { kind: 'settling', received: end.receivedMinor, settlesAt: end.settlesAt }
    case 'paid':
      return { kind: 'paid', received: end.receivedMinor }
    case 'cancelled':
      return { kind: 'cancelled' }
    case 'reversed':
      return { kind: 'reversed', causer: end.causer, refund: end.refundMinor }
    default:
      return end satisfies never
  }
}
