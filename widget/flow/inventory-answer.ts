/** Converts each inventory answer that the interface allows to the one shape that the page uses. */
import { INVENTORY_ERROR_TYPES, type InventoryErrorType } from '../../contract/statuses.ts'
import type { Inventory } from '../../contract/widget-api.ts'

/**
 * This release's server reports an error with `inventoryError` and `inventoryErrorType`. The interface also allows
 * `error` and `errorType`. With an error, all other fields can be missing, and the type can be unknown.
 */
export type InventoryAnswer = Partial<Omit<Inventory, 'inventoryErrorType'>> & {
  inventoryErrorType?: string | null
  error?: boolean
  errorType?: string | null
}

const isErrorType = (type: unknown): type is InventoryErrorType =>
  (INVENTORY_ERROR_TYPES as readonly unknown[]).includes(type)

export function inventoryOf({ error, errorType, ...answer }: InventoryAnswer): Inventory {
  const type = answer.inventoryErrorType ?? errorType
  const hasFailed = answer.inventoryError === true || error === true || !Array.isArray(answer.items)
  return {
    ...EMPTY,
    ...answer,
    inventoryError: hasFailed,
    inventoryErrorType: hasFailed ? (isErrorType(type) ? type : 'internal') : null,
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
