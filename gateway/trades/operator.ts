/** Records an operator's decision on a trade, in the caller's transaction. */
import type { Tx } from '../db/client.ts'
import type { Queue } from '../db/queue.ts'
import type { Signals } from '../db/signals.ts'
import { CORE } from './core.ts'
import type { Fact } from './decide.ts'
import type { WriteDeps } from './intent-store.ts'
import { openTradeTx } from './postgres-store.ts'
import { recordLocked } from './record.ts'
import type { ShellDeps } from './trade-store.ts'

/** Sweeps replace jobs here, so a command needs no queue. */
const NO_JOBS: Pick<Queue, 'send'> = { send: async () => {} }

/** Pages poll every second, so a command sends no signals. */
const NO_SIGNALS: Pick<Signals, 'notify'> = { notify: async () => {} }

export type OperatorDeps = Pick<WriteDeps, 'clock' | 'ids' | 'box' | 'publicUrl' | 'limits'> &
  Pick<ShellDeps, 'protectionDays'>

type OperatorFact = { depositId: bigint; tradeId: bigint; fact: Fact }

/** Resolves to whether the fact changed the trade. The deposit's lock keeps the bot's work out: no lease is needed. */
export async function recordByOperator(
  deps: OperatorDeps,
  tx: Tx,
  { depositId, tradeId, fact }: OperatorFact,
): Promise<boolean> {
  const { clock, protectionDays } = deps
  const trades = openTradeTx({ ...deps, queue: NO_JOBS, signals: NO_SIGNALS }, tx)
  const deposit = await trades.lockDeposit(depositId)
  if (deposit === undefined) throw new Error(`there is no deposit ${depositId}`)
  const report = { deposit, source: { tradeId }, fact, now: clock.now() }
  const recorded = await recordLocked({ core: CORE, protectionDays }, trades, report)
  return recorded !== undefined && recorded.events.length > 0
}
