/** Converts each inventory answer that the interface allows to the one shape that the page uses. */
import { INVENTORY_ERROR_CAUSES, INVENTORY_ERROR_TYPES } from '../../contract/statuses.ts'
import type { Inventory } from '../../contract/widget-api.ts'

/**
 * This release's server reports an error with `inventoryError` and `inventoryErrorType`. The interface also allows
 * `error` and `errorType`. With an error, all other fields can be missing, and type and cause can be unknown, as from a
 * newer server.
 */
export type InventoryAnswer = Partial<Omit<Inventory, 'inventoryErrorType' | 'inventoryErrorCause'>> & {
  inventoryErrorType?: string | null
  inventoryErrorCause?: string
  error?: boolean
  errorType?: string | null
}

/** Returns the value if this page knows it. */
const knownOf = <Known extends string>(known: readonly Known[], value: unknown): Known | undefined =>
  known.find((each) => each === value)

export function inventoryOf({
  error,
  errorType,
  inventoryErrorType,
  inventoryErrorCause,
  ...answer
}: InventoryAnswer): Inventory {
  const hasFailed = answer.inventoryError === true || error === true || !Array.isArray(answer.items)
  const type = knownOf(INVENTORY_ERROR_TYPES, inventoryErrorType ?? errorType) ?? 'internal'
  const cause = knownOf(INVENTORY_ERROR_CAUSES, inventoryErrorCause)
  return {
    ...EMPTY,
    ...answer,
    inventoryError: hasFailed,
    inventoryErrorType: hasFailed ? type : null,
    ...(cause !== undefined && { inventoryErrorCause: cause }),
  }
}

const EMPTY: Inventory = {
  items: [],
  minPrice: 0,
  currency: 'USD',
  maxItems: 0,
  unavailableItems: 0,
  unavailableByReason: {},
  quoteId: null,
  hold: null,
  ageSeconds: 0,
  inventoryError: false,
  inventoryErrorType: null,
}
