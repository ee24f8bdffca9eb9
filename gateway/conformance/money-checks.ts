/** Checks how the events of a deposit change the balance of its shopper. */

import type { DepositEventType } from '../../contract/event-types.ts'
import type { StoreDeposit } from '../../contract/store-api.ts'
import type { Check } from './check.ts'
import { AMOUNT_MINOR, type Change, withChange } from './invented.ts'
import { checkBalanceChange, deliverAll, failed, type Kit, type Verdict } from './kit.ts'

/** The part of an amount that is held, or taken back. */
const PART_MINOR = 400
const INCREASE_MINOR = 1_500
const HELD_UNTIL = '2100-01-01T00:00:00.000Z'
const PAID: Change = { status: 'succeeded', amount: AMOUNT_MINOR }
const REVERSALS = 'store-guide.md#held-and-taken-back'
const STATES = 'store-guide.md#states-of-a-deposit'
const DELIVERY = 'webhooks.md#delivery'

type Step = [type: DepositEventType, change: Change]

/** Makes the events of a deposit, a new one by default. Each event includes the changes of the earlier ones. */
async function makeEvents(kit: Kit, steps: readonly Step[], start?: StoreDeposit) {
  let deposit = start ?? (await kit.newDeposit())
  return steps.map(([type, change]) => {
    deposit = withChange(deposit, change)
    return kit.event(type, deposit)
  })
}

/** Delivers the events of a new deposit, in order by default. Passes if they change the balance by `change`. */
const changesBalance =
  (change: number, steps: readonly Step[], order: 'in order' | 'last first' = 'in order') =>
  async (kit: Kit): Promise<Verdict> => {
    const events = await makeEvents(kit, steps)
    const sent = order === 'in order' ? events : events.toReversed()
    return checkBalanceChange(kit, { change }, () => deliverAll(kit, sent))
  }

const PARTLY_REVERSED: readonly Step[] = [
  ['deposit.succeeded', PAID],
  ['deposit.reversed', { reversedAmount: PART_MINOR, chargedAmount: PART_MINOR }],
]
const HELD: Step = ['deposit.succeeded', { ...PAID, heldAmount: PART_MINOR, heldUntil: HELD_UNTIL }]
const FREED: Step = ['deposit.funds_available', { heldAmount: 0, heldUntil: null }]

export const MONEY_CHECKS: readonly Check[] = [
  {
    name: 'credit',
    title: 'a deposit that succeeded is credited',
    document: STATES,
    run: changesBalance(AMOUNT_MINOR, [['deposit.succeeded', PAID]]),
  },
  {
    name: 'no-credit',
    title: 'an open offer and a declined one credit nothing, whatever the items are worth',
    document: STATES,
    run: changesBalance(0, [
      ['deposit.pending', { status: 'pending' }],
      ['deposit.trade_declined', { status: 'tradeDeclined', endReason: 'declined' }],
    ]),
  },
  {
    name: 'late-success',
    title: 'a deposit that timed out is credited if its items arrive after all',
    document: STATES,
    run: changesBalance(AMOUNT_MINOR, [
      ['deposit.pending', { status: 'pending' }],
      ['deposit.trade_timeout', { status: 'tradeTimeout', endReason: 'deadline' }],
      ['deposit.succeeded', { ...PAID, endReason: null }],
    ]),
  },
  {
    name: 'amount-increased',
    title: 'if the amount of a deposit increases later, the difference is credited',
    document: 'webhooks.md#depositamount_increased',
    run: changesBalance(AMOUNT_MINOR + INCREASE_MINOR, [
      ['deposit.succeeded', PAID],
      ['deposit.amount_increased', { amount: AMOUNT_MINOR + INCREASE_MINOR }],
    ]),
  },
  {
    name: 'hold-ends',
    title: 'after the end of a hold, the amount is credited in full, and only once',
    document: REVERSALS,
    run: changesBalance(AMOUNT_MINOR, [HELD, FREED]),
  },
  {
    name: 'old-news',
    title: 'an event that arrives late, with a smaller sequence, undoes nothing',
    document: DELIVERY,
    run: changesBalance(AMOUNT_MINOR - PART_MINOR, PARTLY_REVERSED, 'last first'),
  },
  {
    name: 'old-hold',
    title: 'an older event does not bring back a hold that has ended',
    document: DELIVERY,
    run: changesBalance(AMOUNT_MINOR, [HELD, FREED], 'last first'),
  },
  {
    name: 'reversed-part',
    title: 'a part that was taken back is deducted from the balance',
    document: REVERSALS,
    run: changesBalance(AMOUNT_MINOR - PART_MINOR, PARTLY_REVERSED),
  },
  {
    name: 'reversed-whole',
    title: 'two reversals together deduct the whole amount once',
    document: REVERSALS,
    run: changesBalance(0, [
      ...PARTLY_REVERSED,
      ['deposit.reversed', { reversedAmount: AMOUNT_MINOR, chargedAmount: AMOUNT_MINOR }],
    ]),
  },
  {
    name: 'borne-by-operator',
    title: 'a reversal that the operator bears in part is deducted from the shopper’s balance in full',
    document: REVERSALS,
    run: changesBalance(0, [
      HELD,
      [
        'deposit.reversed',
        { heldAmount: 0, heldUntil: null, reversedAmount: AMOUNT_MINOR, chargedAmount: PART_MINOR },
      ],
    ]),
  },
  {
    name: 'later-reversal',
    title: 'a reversal after the money became available is deducted from the balance',
    document: REVERSALS,
    async run(kit) {
      const [credit, ...rest] = await makeEvents(kit, [
        ['deposit.succeeded', PAID],
        FREED,
        ['deposit.reversed', { reversedAmount: AMOUNT_MINOR, chargedAmount: 0 }],
      ])
      const complaint = credit && (await deliverAll(kit, [credit]))
      if (complaint !== undefined) return failed(complaint)
      return checkBalanceChange(kit, { change: -AMOUNT_MINOR }, () => deliverAll(kit, rest))
    },
  },
  {
    name: 'currency',
    title: 'a credit in EUR leaves the balance in USD unchanged',
    document: 'store-guide.md#opening-a-deposit',
    inventedOrdersOnly: true,
    async run(kit) {
      const deposit = await kit.newDeposit({ currency: 'EUR' })
      const events = await makeEvents(kit, [['deposit.succeeded', PAID]], deposit)
      return checkBalanceChange(kit, { change: 0 }, () => deliverAll(kit, events))
    },
  },
]
