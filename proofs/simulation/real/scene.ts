/** The state that the parts of one simulated till share on the real level. */
import type pg from 'pg'
import type { BotHandlers } from '../../../gateway/bots/bot.ts'
import type { Lease } from '../../../gateway/bots/lease-store.ts'
import type { Queue } from '../../../gateway/db/queue.ts'
import type { PublisherDeps } from '../../../gateway/events/service.ts'
import type { Ids } from '../../../gateway/kit/ids.ts'
import type { Log } from '../../../gateway/kit/log.ts'
import type { Core } from '../../../gateway/trades/core.ts'
import type { TradeDeps } from '../../../gateway/trades/deps.ts'
import type { RequestDeps } from '../../../gateway/trades/request.ts'
import type { Gate, Restartable, Sim } from '../process.ts'
import type { Steam } from '../steam.ts'
import type { Trace } from '../trace.ts'
import type { Connections } from './connections.ts'
import type { Waiters } from './ports.ts'
import type { Scheduler } from './scheduler.ts'
import type { Sessions } from './sessions.ts'

export type Deps = TradeDeps & RequestDeps & PublisherDeps

export type Process = Restartable & {
  leases: Map<string, HeldLease>
  waiters: Waiters
  gate: Gate
  connections: Connections
  deps: Deps
  handlers: Pick<BotHandlers, 'trade' | 'refresh' | 'history' | 'watch'>
}

export type HeldLease = { lease: Lease; endsAt: number }

/** The terms that each store has had, by store id, each as the text of `termsKeyOf` (check.ts). */
export type Settings = Map<number, Set<string>>

export type Scene = Sim & {
  sessions: Sessions
  /** A connection for the checks and for the simulation's own rows, on which no faults happen. */
  monitor: pg.ClientBase
  scheduler: Scheduler
  trace: Trace
  core: Core
  steam: Steam
  settings: Settings
  queue: Queue
  ids: Ids
  log: Log
  processes: Process[]
  /** The number of each bot's lease, according to the database. */
  leaseEpochs: Map<bigint, bigint>
  /** Bots that Steam refuses forever, by Steam id. `retired`: the operator has retired the bot since. */
  lost: Map<string, 'dead' | 'retired'>
  /** Database ids of the bots with a trade whose offer may be open. */
  open: ReadonlySet<string>
  /** Whole hashes and tokens, none of which may appear in a log. */
  secrets: string[]
  work: { leaseTaken(botId: bigint): void }
  notify(topic: string): void
  /** Called after each commit that can break a promise. */
  afterCommit(): void
  fail(error: unknown): void
}
