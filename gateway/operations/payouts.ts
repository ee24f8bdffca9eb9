/** Payouts: money that the operator paid to a store outside the till. */
import type { Tx } from '../db/client.ts'
import { keysetPage } from '../kit/keyset-page.ts'
import { type ListedPayout, type PayoutFilter, selectPayouts } from '../ledger/operator-store.ts'
import {
  type Payout,
  type PayoutAnswer,
  recordPayout as record,
  voidPayout as undo,
} from '../ledger/payout.ts'
import { act } from './act.ts'
import { formatAmount } from './amount.ts'
import { refuseMovement } from './movement.ts'
import { type ActDeps, type Answer, done, type FindDeps, refused, unchanged } from './operation.ts'
import { findStore } from './store.ts'
import { noStore, unknownStore } from './store-check.ts'

export type PayoutView = {
  storeId: bigint
  amountMinor: bigint
  currency: Payout['currency']
  reference: string
}

/** Records a payout, once for each reference. Refuses more than the store has available. */
export function recordPayout(deps: ActDeps, payout: Payout): Promise<Answer<PayoutView>> {
  const { storeId, currency, amount: amountMinor, reference } = payout
  const view = { storeId, amountMinor, currency, reference }
  const secondOperator = { input: () => view, amountMoved: () => ({ amountMinor, currency }) }
  return act(
    deps,
    { name: 'payout record', needsReason: true, argumentsOf: () => view, secondOperator },
    async (tx) => {
      const refusal = refuseMovement({ noun: 'a payout', reference, amountMinor })
      if (refusal !== undefined) return refusal
      if ((await findStore(tx, storeId)) === undefined) {
        return noStore(storeId)
      }
      const answer = await record({ db: tx, clock: deps.clock }, payout)
      if (answer.kind === 'refused')
        return refused('conflict', `Nothing was recorded: ${whyNot(payout, answer)}.`)
      if (answer.kind === 'known') return unchanged(view, `${reference} was recorded before.`)
      return done(
        view,
        `${reference} recorded: ${formatAmount(amountMinor, currency)} paid to store ${storeId}.`,
      )
    },
  )
}

function whyNot({ reference, currency }: Payout, answer: Extract<PayoutAnswer, { kind: 'refused' }>): string {
  if (answer.reason === 'not_available') {
    return `the store has ${formatAmount(answer.availableMinor, currency)} available`
  }
  const { recorded } = answer
  if (recorded.voidedAt !== null) return `${reference} was voided: give the payout another reference`
  return `${reference} is another payout, of ${formatAmount(recorded.amount, recorded.currency)}`
}

/** `next`: the `before` of the next page; null on the last page. */
export type PayoutPage = { payouts: ListedPayout[]; next: bigint | null }

/** Lists payouts, newest first. */
export async function listPayouts({ db }: FindDeps, filter: PayoutFilter): Promise<Answer<PayoutPage>> {
  const unknown = await unknownStore(db, filter.storeId)
  if (unknown !== undefined) return unknown
  const { rows: payouts, next } = await keysetPage(filter, (page) => selectPayouts(db, page), 'payoutId')
  return done({ payouts, next })
}

export type VoidedPayout = PayoutView & { payoutId: bigint }

/** Voids a payout that was never made. The amount is available to the store again; the reference stays used. */
export function voidPayout(deps: ActDeps, payoutId: bigint): Promise<Answer<VoidedPayout>> {
  const argumentsOf = (voided: VoidedPayout) => ({ ...voided })
  const amountMoved = (_tx: Tx, { amountMinor, currency }: VoidedPayout) => ({ amountMinor, currency })
  const namedAct = {
    name: 'payout void',
    needsReason: true,
    argumentsOf,
    secondOperator: { input: () => ({ payoutId }), amountMoved },
  }
  return act(deps, namedAct, async (tx) => {
    const answer = await undo({ tx, clock: deps.clock }, payoutId)
    if (answer.kind === 'unknown') return refused('not_found', `There is no payout ${payoutId}.`)
    const { storeId, amountMinor, currency, reference } = answer.payout
    const view = { payoutId, storeId, amountMinor, currency, reference }
    if (answer.kind === 'known') return unchanged(view, `Payout ${payoutId} was voided before.`)
    const amount = formatAmount(amountMinor, currency)
    return done(
      view,
      `Payout ${payoutId} (${reference}) is voided: store ${storeId} has ${amount} available again.`,
    )
  })
}
