/** Stops the till on a restored database until the next epoch begins, so no event's number is used twice. */
import type { Db, Tx } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import type { NumberedEvent } from '../events/event.ts'
import { lockPublishing } from '../events/store.ts'
import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import { BREAKS, type Break, breakOf } from './epoch.ts'
import type { Memory } from './memory.ts'
import { beginEpoch, claimFirstEpoch, haltAsBehind, readHistory, takeLeasesBack } from './store.ts'

type AddDeliveries = (tx: Tx, events: readonly NumberedEvent[]) => Promise<void>

export type EpochDeps = {
  db: Db
  log: Log
  clock: Clock
  memory: Memory
  addDeliveries: AddDeliveries
  /**
   * Whether the till stops on a promoted replica, or begins an epoch there without an operator. Also applies after a
   * restore to a point in time, which cannot be told apart.
   */
  afterFailover: 'stop' | 'epoch'
  monotonicMs(): number
  gauge: { set(value: number): void }
}

export type EpochWatch = {
  /** Returns why the last check stopped the till; undefined if it did not. */
  whyStopped(): Break | undefined
  /**
   * Compares the database with its record of epochs and with the state that `memory` last saw. If the database was
   * restored or replaced, stops the till; only after a break `timeline`, begins an epoch instead if `afterFailover`
   * says so. If it was not restored or replaced, ends a stop.
   */
  check(): Promise<void>
}

/** How often the log repeats that the till is stopped. */
const LOG_AGAIN_MS = 60_000

export function watchEpoch(deps: EpochDeps): EpochWatch {
  const { db, log, clock, memory } = deps
  let stoppedBy: Break | undefined
  let loggedMs = Number.NEGATIVE_INFINITY

  const stop = async (breakKind: Break, isRecorded: boolean): Promise<void> => {
    deps.gauge.set(1)
    const isLogDue = stoppedBy !== breakKind || deps.monotonicMs() - loggedMs >= LOG_AGAIN_MS
    stoppedBy = breakKind
    if (isLogDue) {
      loggedMs = deps.monotonicMs()
      log.error(
        { found: breakKind, reason: BREAKS[breakKind] },
        'database was restored or replaced: nothing is published, opened or offered until tradetill restore finish',
      )
    }
    // Comes last, because this gateway must stop even if the write fails.
    if (breakKind === 'behind' && !isRecorded) await recordBehind(deps)
  }

  return {
    whyStopped: () => stoppedBy,
    async check() {
      const history = await readHistory(db)
      const { epoch, life } = history
      if (epoch === undefined) return claimFirstEpoch(db, clock.now())
      const breakKind = breakOf(history, memory.lastSeen(life))
      if (breakKind === 'timeline' && deps.afterFailover === 'epoch') return failOver(deps)
      if (breakKind !== undefined) return stop(breakKind, history.isBehind)
      if (stoppedBy !== undefined)
        log.warn(
          { epoch: String(epoch.number) },
          'till continued: the database is the one on which its epoch began',
        )
      stoppedBy = undefined
      deps.gauge.set(0)
      const { timeline, written } = life
      const seen = memory.lastSeen(life)
      if (seen?.written === written && seen.epoch === epoch.number) return
      memory.keep(life, { epoch: epoch.number, beganAt: epoch.beganAt, timeline, written })
    },
  }
}

/** Stops every gateway, unless the next epoch has begun meanwhile: `restore finish` can take minutes to commit. */
function recordBehind({ db, clock, memory }: EpochDeps): Promise<void> {
  return inTransaction(db, async (tx) => {
    await lockPublishing(tx)
    const history = await readHistory(tx)
    if (breakOf(history, memory.lastSeen(history.life)) === 'behind') await haltAsBehind(tx, clock.now())
  })
}

/** Begins an epoch after a failover. Every gateway may call this: one begins the epoch, the others find it begun. */
async function failOver({ db, log, clock, addDeliveries }: EpochDeps): Promise<void> {
  const newEpoch = await inTransaction(db, async (tx) => {
    await lockPublishing(tx)
    if (breakOf(await readHistory(tx), undefined) !== 'timeline') return undefined
    return startEpoch(tx, { at: clock.now(), addDeliveries })
  })
  if (newEpoch === undefined) return
  const facts = { epoch: String(newEpoch.epoch), stores: newEpoch.stores, skipped: String(newEpoch.skipped) }
  log.error(
    facts,
    'a replica of the database was promoted, or its server was restored: a new epoch began, and what it lacks is lost',
  )
}

/** `skipped`: how many numbers the epoch leaves out. */
type StartedEpoch = { epoch: bigint; skipped: bigint; stores: number }

/**
 * Begins an epoch, writes its event for every store, and ends all earlier leases. The caller holds `lockPublishing`.
 */
export async function startEpoch(
  tx: Tx,
  { at, addDeliveries }: { at: Date; addDeliveries: AddDeliveries },
): Promise<StartedEpoch> {
  const { epoch, skipped, events } = await beginEpoch(tx, at)
  if (events.length > 0) await addDeliveries(tx, events)
  await takeLeasesBack(tx)
  return { epoch, skipped, stores: events.length }
}
