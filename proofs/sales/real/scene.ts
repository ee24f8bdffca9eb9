/** The state that the parts of the sales simulation on PostgreSQL share while one seed runs. */
import type pg from 'pg'
import type { FakeSession } from '../../../gateway/testing/fake-steam.ts'
import type { Rounds } from '../../../vault/rounds.ts'
import type { Engine } from '../../simulation/engine.ts'
import type { Faults } from '../../simulation/faults.ts'
import type { Gate, Restartable } from '../../simulation/process.ts'
import type { Connections } from '../../simulation/real/connections.ts'
import type { Scheduler } from '../../simulation/real/scheduler.ts'
import type { Sessions } from '../../simulation/real/sessions.ts'
import type { SalesWorld } from '../world.ts'

/**
 * `faults`: faults happen. `burst`: no more faults, and minutes pass. `long`: no more faults, and days pass. `over`:
 * the run ends.
 */
export type Phase = 'faults' | 'burst' | 'long' | 'over'

export type Process = Restartable & { gate: Gate; connections: Connections }

/** A bot: its number in the till, and its session on the fake Steam. */
export type Bot = { botId: bigint; session: FakeSession }

export type Scene = {
  world: SalesWorld
  engine: Engine
  scheduler: Scheduler
  faults: Faults
  sessions: Sessions
  /** A connection for the checks, on which no faults happen. */
  monitor: pg.ClientBase
  bots: ReadonlyMap<string, Bot>
  gateways: Process[]
  vault: Process
  rounds: Rounds
  phase: Phase
  /**
   * Until this time, nobody buys and the vault begins no round. Both continue together, because a buyer waits only for
   * minutes.
   */
  quietUntil: number
  /** When the second `burst` begins, at the end of `long`; infinite before `long`. */
  lastBurstAt: number
  fail(error: unknown): void
}
