/** Refuses an intent if another bot would serve its request sooner. A new trade with another bot follows. */
import type { Refusal } from '../db/trade-tables.ts'
import { record, type Source } from './record.ts'
import { mayMove } from './refusal.ts'
import type { LoadedTrade, ShellDeps } from './trade-store.ts'

/**
 * How long a bot has to begin a send. A bot that needs longer is overloaded, or has lost its session or its process.
 */
export const TAKE_UP_MS = 5_000

/** Moves an intent that its bot does not take up. Any process may call this. */
export async function moveUntaken(deps: ShellDeps, tradeId: bigint): Promise<void> {
  const loaded = await deps.trades.load(tradeId)
  if (loaded !== undefined) await moveOn(deps, { loaded, because: 'not_taken_up', source: { tradeId } })
}

type Moving = { loaded: LoadedTrade; because: Refusal; source: Source }

/** Resolves to true if the trade is refused afterwards, by this call or by another. */
export async function moveOn(deps: ShellDeps, { loaded, because, source }: Moving): Promise<boolean> {
  const { trade, facts } = loaded
  if (trade.state !== 'intended' || !mayMove(facts.attempt, deps.clock.now())) return false
  if (!(await deps.trades.isServedSoonerElsewhere(loaded))) return false
  const recorded = await record(deps, source, { kind: 'held_back', because })
  return recorded?.trade.state === 'refused'
}
