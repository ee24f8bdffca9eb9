/** Makes the store open deposits for its own orders, so the checks send events of deposits that the store knows. */
import { randomUUID } from 'node:crypto'
import type { StoreDeposit } from '../../contract/store-api.ts'
import type { Clock } from '../kit/clock.ts'
import { inventedDeposit, type Order } from './invented.ts'

const DEADLINE_MS = 15_000

type Options = {
  /** A POST to this address makes the store open a deposit at its till. `{CUSTOMER}` is replaced by `customer`. */
  url: string
  customer: string
  /** True if the checks read a balance of this customer alone: `--balance` contains `{CUSTOMER}`. */
  isForCustomer: boolean
  clock: Clock
}

export function createStoreOrders({ url, customer, isForCustomer, clock }: Options) {
  const address = url.replaceAll('{CUSTOMER}', encodeURIComponent(customer))
  const opened: StoreDeposit[] = []
  // Ids count up from the time in milliseconds. A run takes longer than a millisecond per deposit, so no later run
  // repeats an id.
  let lastId = clock.now().getTime()
  return {
    /** Answers the store's call to the stand-in till with a new deposit. */
    openDeposit(order: Order): StoreDeposit {
      lastId += 1
      const deposit = inventedDeposit(String(lastId), order, clock.now())
      opened.push(deposit)
      return { ...deposit, url: `http://localhost/deposit/${randomUUID().replaceAll('-', '')}` }
    },
    /** Makes the store open a deposit, and resolves to it. */
    async makeStoreOpen(): Promise<StoreDeposit> {
      const signal = AbortSignal.timeout(DEADLINE_MS)
      const answer = await fetch(address, { method: 'POST', redirect: 'manual', signal })
      await answer.body?.cancel()
      const deposit = opened.shift()
      if (deposit === undefined)
        throw new Error(
          `${address} answered ${answer.status} and opened no deposit at the stand-in till of this command`,
        )
      refuseOtherCustomer(deposit.customerReference)
      return deposit
    },
  }

  /**
   * Refuses another customer's deposit: the balance of `customer` would not change, and every check would blame the
   * handler.
   */
  function refuseOtherCustomer(reference: string | null): void {
    if (isForCustomer && reference !== null && reference !== customer)
      throw new Error(
        `${address} opened a deposit for the customer "${reference}" instead of "${customer}" (--customer). Put {CUSTOMER} into the address`,
      )
  }
}
