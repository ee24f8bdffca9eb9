/**
 * Outages of Steam, which begin and end automatically, and the operator's maintenance. Both pause the countdown of
 * deposits, which is recorded as the outage `deposits`.
 */
import type { Db, Tx } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import type { Metrics } from '../metrics.ts'
import { judgeOutages, type Notice, type Outage } from './outage.ts'
import {
  beginOutage,
  changeNotice,
  endDueMaintenance,
  endOutage,
  extendDeposits,
  extendTrades,
  healthOfBots,
  openOutages,
} from './store.ts'

export type OutageDeps = { db: Db; clock: Clock; log: Log; metrics: Pick<Metrics, 'outage'> }

/**
 * Begins and ends outages, and ends maintenance at its planned end. Call it every few seconds, from any number of
 * processes.
 */
export async function watchOutages({ db, clock, log, metrics }: OutageDeps): Promise<void> {
  const now = clock.now()
  const ongoing = await inTransaction(db, async (tx) => {
    const until = await endDueMaintenance(tx, now)
    if (until !== undefined) log.info({ until: until.toISOString() }, 'maintenance ended as planned')
    const { begin, end } = judgeOutages({ bots: await healthOfBots(tx), open: await openOutages(tx) }, now)
    for (const kind of begin) {
      if (await beginOutage(tx, kind, now)) log.error({ outage: kind }, 'outage began')
    }
    for (const kind of end) {
      if (await finish(tx, kind, now)) log.info({ outage: kind }, 'outage ended')
    }
    return openOutages(tx)
  })
  for (const outage of ['offers', 'inventories', 'maintenance'] as const) {
    metrics.outage.set({ capability: outage }, ongoing.has(outage) ? 1 : 0)
  }
}

async function finish(tx: Tx, kind: Outage, now: Date): Promise<boolean> {
  const since = await endOutage(tx, kind)
  if (since === undefined) return false
  // If the clock was set back, nobody knows how long shoppers could not act.
  if (since >= now) return true
  if (kind === 'deposits') await extendDeposits(tx, since, now)
  if (kind === 'offers') await extendTrades(tx, since, now)
  return true
}

type MaintenanceDeps = { db: Db | Tx; clock: Clock }

/**
 * While maintenance is on, no new trade starts and no deposit expires; open trades continue. If it is on already, only
 * its notice changes. `unchanged`: it is on with the same notice.
 */
export async function beginMaintenance(
  { db, clock }: MaintenanceDeps,
  notice: Notice,
): Promise<'begun' | 'changed' | 'unchanged'> {
  const now = clock.now()
  return inTransaction(db, async (tx) => {
    const hasBegun = await beginOutage(tx, 'maintenance', now)
    if (hasBegun) await beginOutage(tx, 'deposits', now)
    const hasChanged = await changeNotice(tx, notice)
    if (hasBegun) return 'begun'
    return hasChanged ? 'changed' : 'unchanged'
  })
}

/**
 * Ends maintenance. Resolves to false if it was off. Unless an outage of Steam lasts, the countdown of deposits goes on
 * at once. If the next watch did this, a deposit whose time would have run out during the maintenance could not be paid
 * until then.
 */
export async function endMaintenance({ db, clock }: MaintenanceDeps): Promise<boolean> {
  const now = clock.now()
  return inTransaction(db, async (tx) => {
    if (!(await finish(tx, 'maintenance', now))) return false
    const ongoing = await openOutages(tx)
    if (!ongoing.has('offers') && !ongoing.has('inventories')) await finish(tx, 'deposits', now)
    return true
  })
}

/** Resolves to the reason why no trade may start now; undefined if trades may start. */
export async function whyTradesClosed(db: Db | Tx): Promise<'maintenance' | 'steam_down' | undefined> {
  return whyClosedBy(await openOutages(db))
}

/** Like `whyTradesClosed`, for outages that were read before. */
export function whyClosedBy(
  ongoing: Awaited<ReturnType<typeof openOutages>>,
): 'maintenance' | 'steam_down' | undefined {
  if (ongoing.has('maintenance')) return 'maintenance'
  return ongoing.has('offers') || ongoing.has('inventories') ? 'steam_down' : undefined
}
