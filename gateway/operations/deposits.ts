import { isFinal } from '../../contract/statuses.ts'
import { NOBODY } from '../../contract/steam-id.ts'
import type { CreditMode } from '../db/trade-tables.ts'
import { hasOpenOrDeliveredTrade, lockDeposit } from '../deposits/store.ts'
import { type Moment, timelineOf } from '../deposits/timeline-store.ts'
import { act } from './act.ts'
import { depositRows, type ListedDeposit, type Need, needsOf } from './deposit-list-store.ts'
import { type ActDeps, type Answer, done, type ReadDeps, refused, unchanged } from './operation.ts'
import { type Outlook, outlookOf } from './outlook.ts'
import { readOutlookFacts } from './outlook-store.ts'
import { readShopperRecord, type ShopperRecord } from './shoppers.ts'
import { holdAll } from './store.ts'

/** `shopper`: null if no account is known, or if the account was erased. */
export type DepositView = ListedDeposit & {
  needs: Need[]
  moments: Moment[]
  shopper: ShopperRecord | null
} & Outlook

/** How many of the shopper's newest trades to read. */
const MOST_TRADES = 200

export async function showDeposit({ db, clock }: ReadDeps, depositId: bigint): Promise<Answer<DepositView>> {
  const now = clock.now()
  const [moments, facts] = [await timelineOf(db, depositId), await readOutlookFacts(db, depositId)]
  const [deposit] = await depositRows(db, [depositId])
  if (moments === undefined || facts === undefined || deposit === undefined) {
    return refused('not_found', `There is no deposit ${depositId}.`)
  }
  const needs = (await needsOf(db, [depositId], { now })).get(depositId) ?? []
  const { steamId } = deposit
  // The trades of all erased accounts name `NOBODY`. They are not the history of one person.
  const isKnown = steamId !== null && steamId !== NOBODY
  const shopper = isKnown ? await readShopperRecord(db, steamId, MOST_TRADES) : null
  return done({ ...deposit, needs, moments, shopper, ...outlookOf(facts, now) })
}

export type HeldDeposit = { depositId: bigint; creditMode: CreditMode }

/**
 * Sets all credit of the deposit to be held until its shopper can no longer take the items back. Refused if the deposit
 * is over. Also refused once an offer is being made: the shopper then sees how much will be credited immediately.
 */
export function holdDeposit(deps: ActDeps, depositId: bigint): Promise<Answer<HeldDeposit>> {
  const namedAct = { name: 'deposit hold', needsReason: true, argumentsOf: () => ({ depositId }) }
  return act(deps, namedAct, async (tx) => {
    const deposit = await lockDeposit(tx, { id: depositId })
    if (deposit === undefined) return refused('not_found', `There is no deposit ${depositId}.`)
    const data = { depositId, creditMode: 'on_release' as const }
    if (deposit.credit_mode === 'on_release' && !isFinal(deposit.status))
      return unchanged(data, `All credit of deposit ${depositId} is already set to be held.`)
    if (deposit.status !== 'created' || (await hasOpenOrDeliveredTrade(tx, depositId))) {
      return refused(
        'conflict',
        `Deposit ${depositId} has an offer, or is over: this can no longer be changed.`,
      )
    }
    await holdAll(tx, depositId)
    return done(
      data,
      `All credit of deposit ${depositId} will be held until its shopper can no longer take the items back.`,
    )
  })
}
