import { openAdvanceableClock } from './clock/service.ts'
import type { Config } from './config.ts'
import { createQueue } from './db/boss-queue.ts'
import { type Database, isCrowded, openPool } from './db/client.ts'
import { createConnectionGroup } from './db/connections.ts'
import { createSignals } from './db/pg-signals.ts'
import { type Pulse, startPulse } from './db/pulse.ts'
import type { Queue } from './db/queue.ts'
import type { Signals } from './db/signals.ts'
import type { UnableReason } from './http/refusal.ts'
import { type AdvanceableClock, systemClock, type TillClock } from './kit/clock.ts'
import { createSecretBox, type SecretBox } from './kit/secret-box.ts'
import type { Startup } from './startup.ts'

/** docs/scaling.md counts the connections of a gateway. */
const DATABASE_CONNECTIONS = 10
const LEASE_CONNECTIONS = 2
/** So short that a failed renewal can be repeated several times before the lease ends. */
const LEASE_DEADLINES = { connectMs: 4_000, statementMs: 3_000 }

export type Storage = {
  database: Database
  /** Separate connections for the leases of bots, because lease queries must not wait for others. */
  leases: Database
  pulse: Pulse
  queue: Queue
  signals: Signals
  masterKey: Buffer
  box: SecretBox
  clock: TillClock
  /** `clock`, if it can be advanced; undefined in live mode. */
  advanceableClock: AdvanceableClock | undefined
  /** Resolves to the reason if a database that this process started ends unexpectedly. */
  died: Promise<string>
}

export async function openStorage(
  config: Config,
  { log, shutdown, database: ready }: Startup,
): Promise<Storage> {
  const { url, masterKey, died } = await ready
  const connections = createConnectionGroup()
  const { mode } = config
  const database = openPool({ url, size: DATABASE_CONNECTIONS, mode, connections })
  shutdown.add('connections', 'database pool', () => database.close())
  const leases = openPool({ url, size: LEASE_CONNECTIONS, mode, connections, ...LEASE_DEADLINES })
  shutdown.add('connections', 'pool of leases', () => leases.close())
  const advanceableClock = config.mode === 'live' ? undefined : await openAdvanceableClock(database.db)
  const clock = advanceableClock ?? systemClock
  const queue = await createQueue({ url, log, clock, connections })
  shutdown.add('queue', 'queue', () => queue.stop())
  const signals = await createSignals({ url, log, connections })
  shutdown.add('connections', 'signals', () => signals.close())
  const box = createSecretBox(masterKey, config.oldMasterKeys)
  const pulse = startPulse({ url, connections, log })
  shutdown.add('connections', 'pulse of the database', () => pulse.stop())
  return { database, leases, pulse, queue, signals, masterKey, box, clock, advanceableClock, died }
}

/** Returns why the database cannot serve a call now; undefined if it can. */
export function unableReasonOf({
  database,
  pulse,
}: Pick<Storage, 'database' | 'pulse'>): UnableReason | undefined {
  if (!pulse.isHere()) return 'database_unavailable'
  return isCrowded(database) ? 'overloaded' : undefined
}
