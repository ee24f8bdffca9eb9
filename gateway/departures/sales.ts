/** Records reported sales: the state of each sale, and its money in the books, in one transaction. */
import type { SaleReport } from '../../contract/sale-report.ts'
import type { Tx } from '../db/client.ts'
import type { EntryAnswer } from '../db/sale-tables.ts'
import { judgeSale, movementsBetween, newSale, positionOf } from './sale.ts'
import {
  currentSaleOf,
  insertSale,
  itemOfAsset,
  type KnownSale,
  lockItem,
  lockSale,
  type SaleSubject,
  saveSale,
} from './sale-store.ts'

export type Listing = Omit<SaleSubject, 'tradeId' | 'assetId' | 'isByHand' | 'listedAssetId'> & {
  listedAssetId: string
  price: bigint
}

export type ListingAnswer = Extract<EntryAnswer, 'recorded' | 'known' | 'not_ours' | 'not_free' | 'taken'>

/** Records a listing of an item, which it finds by the asset id in the selling account. */
export async function recordListing(
  tx: Tx,
  { price, ...listing }: Listing,
  at: Date,
): Promise<ListingAnswer> {
  const { market, reference, appId, listedAssetId } = listing
  if ((await lockSale(tx, market, reference)) !== undefined) return 'known'
  const key = await itemOfAsset(tx, appId, listedAssetId)
  const item = key && (await lockItem(tx, key))
  if (item === undefined) return 'not_ours'
  if (item.isProtected || item.moved === 'back') return 'not_free'
  if ((await currentSaleOf(tx, item)) !== undefined) return 'taken'
  const { tradeId, assetId } = item
  await insertSale(tx, { ...listing, tradeId, assetId, isByHand: false }, { sale: newSale(price), at })
  return 'recorded'
}

/** `unknown`: there is no such sale. */
export async function recordReport(
  tx: Tx,
  { market, reference, report }: { market: string; reference: string; report: SaleReport },
  at: Date,
): Promise<'changed' | 'unchanged' | 'unknown'> {
  const known = await lockSale(tx, market, reference)
  if (known === undefined) return 'unknown'
  return (await applyReport(tx, { known, report, at })) ? 'changed' : 'unchanged'
}

type Change = { known: KnownSale; report: SaleReport; at: Date }

async function applyReport(tx: Tx, { known, report, at }: Change): Promise<boolean> {
  const sale = judgeSale(known.sale, report, at)
  if (sale === known.sale) return false
  await saveSale(tx, known, {
    sale,
    movements: movementsBetween(positionOf(known.sale), positionOf(sale)),
    at,
  })
  return true
}

export type HandSale = SaleSubject & { price: bigint; received: bigint; soldAt: Date }

/** Records a paid sale that the operator made elsewhere. */
export async function recordHandSale(
  tx: Tx,
  { price, received, soldAt, ...subject }: HandSale,
): Promise<void> {
  const knownSale = await insertSale(tx, subject, { sale: newSale(price), at: soldAt })
  await applyReport(tx, { known: knownSale, report: { kind: 'paid', received }, at: soldAt })
}
