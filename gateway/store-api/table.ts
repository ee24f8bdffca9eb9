/** Every operation of the store API, in the order of the reference. */
import { ACCOUNT_OPERATIONS } from './account-operations.ts'
import { DEPOSIT_OPERATIONS } from './deposit-operations.ts'
import { ENDPOINT_OPERATIONS } from './endpoint-operations.ts'
import { OFFERING_OPERATIONS } from './offering-operations.ts'
import type { Operation } from './operation.ts'

export const OPERATIONS: readonly Operation[] = [
  ...DEPOSIT_OPERATIONS,
  ...ACCOUNT_OPERATIONS,
  ...OFFERING_OPERATIONS,
  ...ENDPOINT_OPERATIONS,
]
