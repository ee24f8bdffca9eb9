/**
 * Pure rules of trades, departures and drift as one value. The simulation also runs with defective copies, to prove
 * that it finds their defects.
 */
import { itemsSentBack, judgeDeparture, judgeUndoing } from '../departures/departure.ts'
import { compareWithCustody, settleDrift } from '../drift/drift.ts'
import { alarm, dueStep, retryAt, reviewAgainAt } from './alarm.ts'
import { consequences } from './consequences.ts'
import { decide } from './decide.ts'
import { judgeStray } from './stray.ts'
import { evolve } from './trade.ts'

export const CORE = {
  decide,
  evolve,
  dueStep,
  alarm,
  retryAt,
  reviewAgainAt,
  judgeStray,
  consequences,
  judgeDeparture,
  judgeUndoing,
  itemsSentBack,
  compareWithCustody,
  settleDrift,
}

export type Core = typeof CORE
