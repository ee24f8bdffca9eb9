/** Payouts: what the operator paid to a store, outside the till. */
import { type Payout, type PayoutAnswer, recordPayout as record } from '../ledger/payout.ts'
import { act } from './act.ts'
import { formatAmount } from './amount.ts'
import { type ActDeps, type Answer, done, refused, unchanged } from './operation.ts'
import { findStore } from './store.ts'

export type PayoutView = {
  storeId: bigint
  amountMinor: bigint
  currency: Payout['currency']
  reference: string
}

const MOST_REFERENCE = 128

/** Records a payout. The same reference is recorded once; a store is never paid more than it has available. */
export function recordPayout(deps: ActDeps, payout: Payout): Promise<Answer<PayoutView>> {
  const { storeId, currency, amount: amountMinor, reference } = payout
  const view = { storeId, amountMinor, currency, reference }
  return act(deps, { name: 'payout record', needsReason: true, recorded: () => view }, async (tx) => {
    if (reference.length < 1 || reference.length > MOST_REFERENCE) {
      const why = 'it keeps a payout from being recorded twice'
      return refused('usage', `The reference must have 1 to ${MOST_REFERENCE} characters: ${why}.`)
    }
    if (amountMinor <= 0n) return refused('usage', 'The amount must be above zero.')
    if ((await findStore(tx, storeId)) === undefined) {
      return refused('not_found', `There is no store ${storeId}.`)
    }
    const answer = await record({ db: tx, clock: deps.clock }, payout)
    if (answer.kind === 'refused')
      return refused('conflict', `Nothing was recorded: ${whyNot(payout, answer)}.`)
    if (answer.kind === 'known') return unchanged(view, `${reference} was recorded before.`)
    return done(
      view,
      `${reference} recorded: ${formatAmount(amountMinor, currency)} paid to store ${storeId}.`,
    )
  })
}

function whyNot({ reference, currency }: Payout, answer: Extract<PayoutAnswer, { kind: 'refused' }>): string {
  if (answer.because === 'not_available') {
    return `the store has ${formatAmount(answer.availableMinor, currency)} available`
  }
  const { recorded } = answer
  return `${reference} is another payout, of ${formatAmount(recorded.amount, recorded.currency)}`
}
