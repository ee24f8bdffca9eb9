/** `payout …` and `deposit …`. */
import { parseArgs } from 'node:util'
import { CURRENCIES } from '../../contract/money.ts'
import { timelineOf } from '../deposits/timeline.ts'
import { systemClock } from '../kit/clock.ts'
import { type Payout, type PayoutAnswer, recordPayout as record } from '../ledger/payout.ts'
import { idOf, oneOf } from './arguments.ts'
import type { Context } from './commands.ts'
import { Refusal } from './terminal.ts'

export async function recordPayout({ db, terminal }: Context, args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      store: { type: 'string' },
      currency: { type: 'string', default: '' },
      amount: { type: 'string' },
      reference: { type: 'string', default: '' },
    },
  })
  const { reference } = values
  if (reference.length < 1 || reference.length > 128) {
    throw new Refusal(
      '--reference must have 1 to 128 characters: it keeps a payout from being recorded twice',
    )
  }
  const payout = {
    storeId: idOf(values.store, '--store'),
    currency: oneOf(values.currency, CURRENCIES, '--currency'),
    amount: idOf(values.amount, '--amount, in minor units,'),
    reference,
  }
  const answer = await record({ db, clock: systemClock }, payout)
  if (answer.kind === 'refused') throw new Refusal(`nothing was recorded: ${reasonOf(payout, answer)}`)
  terminal.print(answer.kind === 'known' ? `${reference} was recorded before` : `${reference} recorded`)
}

function reasonOf(
  { reference, currency }: Payout,
  answer: Extract<PayoutAnswer, { kind: 'refused' }>,
): string {
  return answer.because === 'other_payout'
    ? `${reference} is another payout of ${answer.recorded.amount} ${answer.recorded.currency}`
    : `the store has ${answer.availableMinor} ${currency} available`
}

export async function showDeposit({ db, terminal }: Context, [id]: string[]): Promise<void> {
  const timeline = await timelineOf(db, idOf(id, 'DEPOSIT'))
  if (timeline === undefined) throw new Refusal(`there is no deposit ${id}`)
  for (const { at, what } of timeline) terminal.print(`${at.toISOString()}  ${what.replace(/\p{Cc}/gu, ' ')}`)
}
