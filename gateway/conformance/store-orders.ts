/** Orders that the store opens, so the events name deposits that it knows. */
import { randomUUID } from 'node:crypto'
import type { StoreDeposit } from '../../contract/store-api.ts'
import type { Clock } from '../kit/clock.ts'
import { inventedDeposit, type Order } from './invented.ts'

const DEADLINE_MS = 15_000

/** `url`: the store's button. A POST there makes the store open a deposit at its till. */
export function createOpening(url: string, clock: Clock) {
  const waiting: StoreDeposit[] = []
  let count = Math.floor(clock.now().getTime() / 1_000)
  return {
    opened(order: Order): StoreDeposit {
      count += 1
      const deposit = inventedDeposit(String(count), order, clock.now())
      waiting.push(deposit)
      return { ...deposit, url: `http://localhost/deposit/${randomUUID().replaceAll('-', '')}` }
    },
    async open(): Promise<StoreDeposit> {
      const signal = AbortSignal.timeout(DEADLINE_MS)
      const answer = await fetch(url, { method: 'POST', redirect: 'manual', signal })
      await answer.body?.cancel()
      const deposit = waiting.shift()
      if (deposit !== undefined) return deposit
      throw new Error(`${url} answered ${answer.status} and opened no deposit at the till of this command`)
    },
  }
}
