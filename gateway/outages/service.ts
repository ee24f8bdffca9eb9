/** Outages of Steam and the operator's maintenance: they begin and end automatically, and stop time meanwhile. */
import type { Db, Tx } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import type { Metrics } from '../metrics.ts'
import { judgeOutages, type Outage } from './outage.ts'
import { beginOutage, endOutage, extendDeposits, extendTrades, healthOfBots, openOutages } from './store.ts'

export type OutageDeps = { db: Db; clock: Clock; log: Log; metrics: Pick<Metrics, 'outage'> }

/** Looks at what the bots meet. To be called every few seconds, by any number of processes. */
export async function watchOutages({ db, clock, log, metrics }: OutageDeps): Promise<void> {
  const now = clock.now()
  const open = await inTransaction(db, async (tx) => {
    const { begin, end } = judgeOutages({ bots: await healthOfBots(tx), open: await openOutages(tx) }, now)
    for (const kind of begin) {
      if (await beginOutage(tx, kind, now)) log.error({ outage: kind }, 'an outage begins')
    }
    for (const kind of end) {
      if (await finish(tx, kind, now)) log.info({ outage: kind }, 'an outage is over')
    }
    return openOutages(tx)
  })
  for (const capability of ['offers', 'inventories', 'maintenance'] as const) {
    metrics.outage.set({ capability }, open.has(capability) ? 1 : 0)
  }
}

async function finish(tx: Tx, kind: Outage, now: Date): Promise<boolean> {
  const since = await endOutage(tx, kind)
  if (since === undefined) return false
  if (kind === 'deposits') await extendDeposits(tx, since, now)
  if (kind === 'offers') await extendTrades(tx, since, now)
  return true
}

/**
 * The operator's flag: while it is on no new trade begins and no deposit expires; trades under way go on. Resolves to
 * whether this changed anything.
 */
export async function setMaintenance(
  { db, clock }: { db: Db | Tx; clock: Clock },
  on: boolean,
): Promise<boolean> {
  const now = clock.now()
  return inTransaction(db, async (tx) => {
    if (!on) return finish(tx, 'maintenance', now)
    const begun = await beginOutage(tx, 'maintenance', now)
    if (begun) await beginOutage(tx, 'deposits', now)
    return begun
  })
}

/** Why no trade may begin now; undefined when one may. */
export async function tradesClosed(db: Db | Tx): Promise<'maintenance' | 'steam_down' | undefined> {
  const open = await openOutages(db)
  if (open.has('maintenance')) return 'maintenance'
  return open.has('offers') || open.has('inventories') ? 'steam_down' : undefined
}
