import type { CreateDepositBody, ListDepositsQuery, StoreDeposit } from '../../contract/store-api.ts'
import type { Signals } from '../db/signals.ts'
import type { DepositPage } from '../deposits/store-deposit.ts'
import type { CallingStore } from '../http/call.ts'
import type { ChallengeDeps } from '../webhooks/challenge.ts'
import type { EndpointDeps } from '../webhooks/endpoints.ts'
import type { AuthDeps } from './authenticate.ts'
import type { IdempotencyDeps } from './idempotency.ts'
import type { OfferingDeps } from './offerings.ts'

export type DepositCalls = {
  createDeposit(
    store: CallingStore,
    body: CreateDepositBody,
  ): Promise<{ deposit: StoreDeposit; created: boolean }>
  findDeposit(
    storeId: bigint,
    by: { depositId: bigint } | { externalId: string },
  ): Promise<StoreDeposit | undefined>
  listDeposits(storeId: bigint, query: ListDepositsQuery): Promise<DepositPage>
  /** `under_way`: Steam is asked to cancel the offer. Resolves to undefined if the store has no such deposit. */
  cancelDeposit(storeId: bigint, depositId: bigint): Promise<'ended' | 'under_way' | undefined>
}

export type StoreApiDeps = AuthDeps &
  IdempotencyDeps &
  OfferingDeps &
  EndpointDeps &
  DepositCalls &
  ChallengeDeps & {
    signals: Pick<Signals, 'notify'>
    /** Refuses a write of a store that has sent too many bytes. Runs after the check of the call's values. */
    limitBytes(storeId: bigint, bytes: number): void
    /** Refuses a read of a store whose answers had too many bytes. */
    limitReads(storeId: bigint): void
    countRead(storeId: bigint, bytes: number): void
    /** The gateway's public address, without a trailing slash. */
    publicUrl: string
  }
