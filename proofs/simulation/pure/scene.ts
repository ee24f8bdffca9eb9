/** The state that the parts of one simulated till share on the pure level. */
import type { BotHandlers } from '../../../gateway/bots/bot.ts'
import type { DriftStore } from '../../../gateway/drift/watch.ts'
import type { Core } from '../../../gateway/trades/core.ts'
import type { ShellDeps } from '../../../gateway/trades/trade-store.ts'
import { type Gate, JobFailed, type Restartable } from '../process.ts'
import type { Bot, Store, TillMemory } from './memory.ts'

export type Process = Restartable & {
  /** The leases that the process believes it holds: their numbers, and when they end in the engine's time. */
  leases: Map<bigint, { leaseEpoch: bigint; endsAt: number }>
  gate: Gate
  deps: ShellDeps
  drift: DriftStore
  /** Looks at the bot's inventory as the holder of its lease. */
  lookForDrift(bot: Bot): Promise<void>
  handlers: Pick<BotHandlers, 'trade' | 'refresh' | 'history' | 'watch'>
}

export type Scene = TillMemory & {
  core: Core
  processes: Process[]
  stores: Store[]
  fail(error: unknown): void
}

/**
 * Starts work in a simulated process, without waiting for it. Calls `onFailure` if the simulation made it fail. Any
 * other failure is a defect.
 */
export function startInProcess(
  scene: Scene,
  work: () => Promise<unknown>,
  onFailure: () => void = () => {},
): void {
  scene.engine.noteResumed()
  work().catch((error: unknown) => {
    if (error instanceof JobFailed) onFailure()
    else scene.fail(error)
  })
}
