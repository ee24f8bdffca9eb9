/** For the refusal `order_conflict`: the values of a repeated call that differ from those that created the deposit. */
import type { CreateDepositBody } from '../../contract/store-api.ts'
import { canonicalJson } from '../kit/canonical-json.ts'
import type { DepositRow } from './store.ts'

export type ComparedRow = Pick<
  DepositRow,
  | 'currency'
  | 'back_to_store_url'
  | 'redirect_url'
  | 'embed_origin'
  | 'min_amount'
  | 'max_amount'
  | 'target_amount'
  | 'customer_reference'
  | 'metadata'
>

/** Fields that the row does not store in full, or whose columns can change later. */
const NOT_COMPARED = 'language, games, creditMode, expiresInMinutes, tradeUrl, shopper or customerLabel'

/** Names the fields that differ. If all compared fields are equal, names all fields that cannot be compared. */
export function describeConflict(body: CreateDepositBody, row: ComparedRow): string {
  const pairs: [keyof CreateDepositBody, unknown, unknown][] = [
    ['currency', body.currency, row.currency],
    ['backToStoreUrl', body.backToStoreUrl, row.back_to_store_url],
    ['redirectUrl', body.redirectUrl, row.redirect_url],
    ['embedOrigin', body.embedOrigin, row.embed_origin],
    // A target is stored as the minimum too.
    ['minAmount', body.minAmount, row.target_amount === null ? row.min_amount : null],
    ['maxAmount', body.maxAmount, row.max_amount],
    ['targetAmount', body.targetAmount, row.target_amount],
    ['customerReference', body.customerReference, row.customer_reference],
    ['metadata', canonicalJson(body.metadata ?? {}), canonicalJson(row.metadata ?? {})],
  ]
  const differing = pairs.filter(([, given, stored]) => String(given ?? '') !== String(stored ?? ''))
  return differing.map(([field]) => field).join(', ') || NOT_COMPARED
}
