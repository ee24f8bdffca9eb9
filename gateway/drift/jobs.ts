/** Starts the daily looks at the bots' inventories when they are due, and exports what the looks found as metrics. */
import { Gauge, type Registry } from 'prom-client'
import { botQueue } from '../bots/bot.ts'
import type { Db } from '../db/client.ts'
import type { Queue } from '../db/queue.ts'
import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import { countDrift } from './list-store.ts'
import { bringLooksForward } from './store.ts'
import type { DriftStore } from './watch.ts'

/** A sweep runs every ten seconds and starts at most this many looks. After a long stop, many bots are due at once. */
const LOOKS_A_SWEEP = 2
/** A look whose job was lost starts again after this time. */
const LOST_MS = 30 * 60_000

type SweepDeps = { db: Db; queue: Queue; drift: DriftStore; clock: Clock }

/** Several processes can call this at the same time: each due bot is taken by only one of them. */
export async function sweepDrift({ db, queue, drift, clock }: SweepDeps): Promise<void> {
  const now = clock.now()
  const nextAt = new Date(now.getTime() + LOST_MS)
  for (const botId of await drift.takeDue({ now, nextAt, limit: LOOKS_A_SWEEP })) {
    const name = botQueue(botId)
    await queue.ensure(name)
    const job = { queue: name, data: { kind: 'drift' }, singletonKey: 'drift' }
    await db.transaction().execute((tx) => queue.send(tx, job))
  }
}

/** Makes looks due now that a wrong clock scheduled days or years ahead. Without this sweep, they would wait until then. */
export async function sweepFarLooks({ db, clock, log }: { db: Db; clock: Clock; log: Log }): Promise<void> {
  const looks = await bringLooksForward(db, clock.now())
  if (looks > 0)
    log.warn({ looks }, 'looks at inventories of bots were due far ahead, because a clock was wrong')
}

export type DriftGauges = { drift: Gauge<'bot' | 'kind'>; lookSeconds: Gauge<'bot'> }

export function createDriftGauges(registry: Registry): DriftGauges {
  const registers = [registry]
  return {
    drift: new Gauge({
      name: 'tradetill_bot_custody_drift',
      help: 'Items of a bot that certainly differ from the books: missing on Steam, foreign to the books, or unnamed (Steam never gave their ids)',
      labelNames: ['bot', 'kind'],
      registers,
    }),
    lookSeconds: new Gauge({
      name: 'tradetill_bot_custody_look_seconds',
      help: 'Age of the last look that saw all of a bot’s own inventory, or else the time since its enrolment; absent for a retired bot',
      labelNames: ['bot'],
      registers,
    }),
  }
}

type SurveyDeps = { db: Db; clock: Clock; gauges: DriftGauges }

export async function surveyDrift({ db, clock, gauges }: SurveyDeps): Promise<void> {
  const nowMs = clock.now().getTime()
  const counts = await countDrift(db)
  gauges.drift.reset()
  gauges.lookSeconds.reset()
  for (const { steamId: bot, unseenSince, ...drift } of counts) {
    for (const kind of ['missing', 'foreign', 'unnamed'] as const)
      gauges.drift.set({ bot, kind }, drift[kind])
    if (unseenSince !== null) gauges.lookSeconds.set({ bot }, (nowMs - unseenSince.getTime()) / 1000)
  }
}
