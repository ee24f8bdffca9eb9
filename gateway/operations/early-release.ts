/**
 * Early release. It has its own file, because it loads the rules of trades, which other acts on deposits do not need.
 */
import type { Currency } from '../../contract/money.ts'
import type { Tx } from '../db/client.ts'
import { lockDeposit } from '../deposits/store.ts'
import { recordByOperator } from '../trades/operator.ts'
import { act } from './act.ts'
import { formatAmount } from './amount.ts'
import { type ActDeps, type Answer, done, refused } from './operation.ts'
import { heldTradesOf } from './store.ts'
import { operatorDeps } from './trades.ts'

export type ReleasedDeposit = {
  depositId: bigint
  tradeIds: bigint[]
  releasedMinor: bigint
  currency: Currency
}

/** `tradeIds`: the only trades whose credit may be released, because a second operator approved these; any if absent. */
type Release = { depositId: bigint; tradeIds?: readonly bigint[] | undefined }

/**
 * Makes all held credit of the deposit available, although its shopper can still take the items back. While that is
 * possible, the credit counts towards the store's limit. If the items go back, the party liable for reversals bears the
 * loss.
 */
export function releaseDeposit(
  deps: ActDeps,
  { depositId, tradeIds: approvedIds }: Release,
): Promise<Answer<ReleasedDeposit>> {
  const namedAct = {
    name: 'deposit release',
    needsReason: true,
    argumentsOf: (data: ReleasedDeposit) => data,
    secondOperator: {
      input: ({ tradeIds }: ReleasedDeposit) => ({ depositId, tradeIds }),
      amountMoved: (_tx: Tx, { releasedMinor, currency }: ReleasedDeposit) => ({
        amountMinor: releasedMinor,
        currency,
      }),
    },
  }
  return act(deps, namedAct, async (tx) => {
    const deposit = await lockDeposit(tx, { id: depositId })
    if (deposit === undefined) return refused('not_found', `There is no deposit ${depositId}.`)
    const held = await heldTradesOf(tx, depositId)
    if (held.length === 0) return refused('conflict', `Deposit ${depositId} has no held credit.`)
    if (approvedIds !== undefined && held.some(({ tradeId }) => !approvedIds.includes(tradeId)))
      return refused('conflict', deliveredSince(depositId))
    for (const { tradeId } of held) {
      const fact = { kind: 'operator_releases_early' } as const
      await recordByOperator(operatorDeps(deps), tx, { depositId, tradeId, fact })
    }
    // A trade stays held if the limit has no room for it. The refusal undoes the release of the others.
    if ((await heldTradesOf(tx, depositId)).length > 0) return refused('conflict', noRoom(deposit.store_id))
    const { currency } = deposit
    const releasedMinor = held.reduce((sum, { heldMinor }) => sum + heldMinor, 0n)
    const tradeIds = held.map(({ tradeId }) => tradeId)
    const consequence = held.some(({ liability }) => liability === 'operator')
      ? 'you lose the amount'
      : 'the store owes the amount'
    return done(
      { depositId, tradeIds, releasedMinor, currency },
      `${formatAmount(releasedMinor, currency)} of deposit ${depositId} is now available. If the shopper takes the items back, ${consequence}.`,
    )
  })
}

const deliveredSince = (depositId: bigint): string =>
  `Nothing was released: more items of deposit ${depositId} were delivered since the proposal. Decline it, and release the deposit again.`

const noRoom = (storeId: bigint): string =>
  `Nothing was released: store ${storeId} has too little room in its limit for credit at risk. Raise the limit: store update --store ${storeId} --risk-limit-usd DOLLARS.`
