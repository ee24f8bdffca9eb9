/** Explains the price that a shopper saw, from the sources' data saved with the quote. */
import { z } from 'zod'
import type { PriceQuery, PriceReason } from '../../contract/widget-api.ts'
import type { Db } from '../db/client.ts'
import { findByHash } from '../deposits/store.ts'
import { refuse } from '../http/refusal.ts'
import type { Clock } from '../kit/clock.ts'
import { OPERATOR_SOURCE } from '../pricing/price.ts'
import { shownNameOf } from '../pricing/sources/names.ts'
import { findPriceBasis } from './quote-store.ts'

/** The part of the saved data that a shopper is shown: not the prices and sales at the sources. */
const shownBasesSchema = z.array(z.object({ source: z.string(), asOf: z.iso.datetime() }))

const quoteIdSchema = z.uuid()

/** Refuses an unknown deposit, a quote that the deposit does not have, and an item that is not in the quote. */
export async function reasonOfPrice(
  { db, clock }: { db: Db; clock: Clock },
  { hash, quoteId, item }: PriceQuery,
): Promise<PriceReason> {
  const deposit = await findByHash(db, hash)
  if (deposit === undefined) return refuse('deposit_not_found')
  if (!quoteIdSchema.safeParse(quoteId).success) return refuse('items_unavailable')
  const basis = await findPriceBasis(db, { depositId: deposit.id, quoteId, assetId: item })
  if (basis === undefined) return refuse('items_unavailable')
  const { game, currency } = basis
  const nowMs = clock.now().getTime()
  const sourceWithAge = (source: string, asOf: Date) => ({
    source: shownNameOf(source, game),
    // The operator's own price does not age.
    ageSeconds: source === OPERATOR_SOURCE ? null : Math.max(0, Math.floor((nowMs - asOf.getTime()) / 1000)),
  })
  return {
    price: Number(basis.price),
    currency,
    said: shownBasesSchema.parse(basis.said).map(({ source, asOf }) => sourceWithAge(source, new Date(asOf))),
    rate: currency === 'USD' ? null : sourceWithAge(basis.rateSource, basis.rateAsOf),
  }
}
