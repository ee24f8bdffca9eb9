/** The pure rules under test, as one value: a defect put in by hand is another value. */
import { decideDeposit } from '../../gateway/deposits/deposit.ts'
import { deliveryMovements, heldPart, releaseMovements } from '../../gateway/ledger/entry.ts'
import { reversalMovements } from '../../gateway/ledger/reversal.ts'
import { alarm, due, retryAt } from '../../gateway/trades/alarm.ts'
import { decide, judgeStray } from '../../gateway/trades/decide.ts'
import { evolve } from '../../gateway/trades/trade.ts'

export const CORE = {
  decide,
  evolve,
  due,
  alarm,
  retryAt,
  judgeStray,
  decideDeposit,
  heldPart,
  deliveryMovements,
  releaseMovements,
  reversalMovements,
}

export type Core = typeof CORE
