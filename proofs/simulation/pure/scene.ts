/** The state that the parts of one simulated till share on the pure level. */
import type { BotHandlers } from '../../../gateway/bots/bot.ts'
import type { DriftStore } from '../../../gateway/drift/watch.ts'
import type { Core } from '../../../gateway/trades/core.ts'
import type { ShellDeps } from '../../../gateway/trades/trade-store.ts'
import { type Gate, JobFailed, type Restartable } from '../process.ts'
import type { Bot, Store, TillMemory } from './memory.ts'

export type Process = Restartable & {
  /** The leases that it believes it holds: their epochs, and when they end by its own clock. */
  leases: Map<bigint, { epoch: bigint; endsAt: number }>
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

/** Runs `work` in a process. Calls `onFailure` if the simulation made it fail. Any other failure is a defect. */
export function inProcess(
  scene: Scene,
  work: () => Promise<unknown>,
  onFailure: () => void = () => {},
): void {
  scene.engine.stir()
  work().catch((error: unknown) => {
    if (error instanceof JobFailed) onFailure()
    else scene.fail(error)
  })
}
