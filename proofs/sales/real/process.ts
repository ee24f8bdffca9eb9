/**
 * The processes of the real level: two gateways and a vault, each with its own connections. A process can die at any
 * wait.
 */
import { CompiledQuery } from 'kysely'
import { tillIn } from '../../../vault/markets/till-store.ts'
import type { Query } from '../../../vault/till-database.ts'
import { wishesIn } from '../../../vault/wishes/store.ts'
import { type Gate, newRestartable, revive, waitForTurn } from '../../simulation/process.ts'
import { ConnectionLost, openConnections } from '../../simulation/real/connections.ts'
import { startVault, TillCallFailed } from '../vault.ts'
import type { Process, Scene } from './scene.ts'

/** How long a process stays dead. */
const LEAST_DEAD_MS = 500
const MOST_DEAD_MS = 60_000

/** `onRevival`: called after a death, to begin the work again. */
export async function startProcess(
  scene: Omit<Scene, 'vault' | 'rounds'>,
  { name, onRevival }: { name: string; onRevival(): void },
): Promise<Process> {
  const { engine, scheduler, faults, sessions, world } = scene
  const { random } = world.luck
  const state = newRestartable(name)
  const onCrash = (): void => {
    world.luck.note(name === 'vault' ? 'vault killed' : 'gateway killed')
    process.connections.reset()
    engine.after(random.between(LEAST_DEAD_MS, MOST_DEAD_MS), () => {
      revive(process)
      onRevival()
    })
  }
  const gate: Gate = (leastMs, mostMs) =>
    waitForTurn({ engine, random, faults }, process, { ms: random.between(leastMs, mostMs), onCrash })
  const connections = await openConnections({
    sessions,
    scheduler,
    faults,
    afterCommit: () => {},
    gate: () => gate(1, 8),
  })
  const process: Process = { ...state, gate, connections }
  return process
}

/** Starts the vault from its log, and returns its rounds. The vault's calls wait for the turn of its process. */
export function openRounds(scene: Pick<Scene, 'world' | 'vault'>): Scene['rounds'] {
  const { world, vault } = scene
  const { luck } = world
  luck.callOutside = async (effect) => {
    await vault.gate(5, 60)
    const answer = effect()
    await vault.gate(1, 4)
    return answer
  }
  const query: Query = async (text, values = []) => {
    if (luck.hits('till away', 0.01)) throw new TillCallFailed('the till is away')
    const { rows } = await vault.connections.db.executeQuery(CompiledQuery.raw(text, [...values]))
    if (luck.hits('answer of the database lost', 0.005)) throw new TillCallFailed('the answer was lost')
    return { rows }
  }
  const wishes = wishesIn(query, world.now)
  return startVault(world, { wishes, till: tillIn(query), mayDie: () => {} })
}

/** Whether the simulation caused the error, or PostgreSQL reported it because of the simulation. */
export const isOfSimulation = (error: unknown): boolean =>
  error instanceof ConnectionLost ||
  error instanceof TillCallFailed ||
  // PostgreSQL's code of a serialization failure.
  (typeof error === 'object' && error !== null && 'code' in error && error.code === '40001')
