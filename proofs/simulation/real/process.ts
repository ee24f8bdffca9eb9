/**
 * A simulated process of the gateway, with its own connections, clock and leases. It can pause or die whenever it waits
 * for the database or Steam.
 */
import { z } from 'zod'
import type { BotContext } from '../../../gateway/bots/bot.ts'
import { DEFAULT_FLEET_LIMITS } from '../../../gateway/bots/fleet.ts'
import {
  LEASE_MS,
  type Lease,
  noteSession,
  putOffLogin,
  renewLease,
  setSessionState,
  takeLeases,
} from '../../../gateway/bots/lease-store.ts'
import { judgeTokenRefusal } from '../../../gateway/bots/token-refusal.ts'
import { DEFAULT_PROTECTION_DAYS } from '../../../gateway/config.ts'
import { createDepartureStore } from '../../../gateway/departures/store.ts'
import { createSecretBox } from '../../../gateway/kit/secret-box.ts'
import { DEFAULT_RULES } from '../../../gateway/pricing/price.ts'
import { tradeHandlers } from '../../../gateway/trades/advance.ts'
import type { IntentDeps } from '../../../gateway/trades/intent-store.ts'
import { createTradeStore } from '../../../gateway/trades/postgres-store.ts'
import { deliveryWriter } from '../../../gateway/webhooks/store.ts'
import { DESTINATIONS } from '../gifts.ts'
import { type Gate, newRestartable, revive, type Sim, waitForTurn } from '../process.ts'
import { sessionOf } from '../steam-session.ts'
import { type PromiseName, Violation } from '../violation.ts'
import { ConnectionLost, openConnections } from './connections.ts'
import { signalsOf } from './ports.ts'
import type { Deps, HeldLease, Process, Scene } from './scene.ts'

const BOX = createSecretBox(Buffer.alloc(32, 3))

/** `name`: a UUID, because leases identify processes by UUIDs. */
export async function startProcess(scene: Scene, name: string): Promise<Process> {
  const { engine, scheduler, faults, sessions } = scene
  const state = { ...newRestartable(name), leases: new Map(), waiters: new Map() }
  const gate: Gate = (low, high) => {
    const ms = scene.random.between(low, high)
    return waitForTurn(scene, process, { ms, onCrash: () => crash(scene, process) })
  }
  const connections = await openConnections({
    sessions,
    scheduler,
    faults,
    afterCommit: scene.afterCommit,
    gate: () => gate(1, 8),
  })
  const common = {
    db: connections.db,
    queue: scene.queue,
    signals: signalsOf({ engine, waiters: state.waiters, notify: scene.notify, process: () => process }),
    clock: { now: () => new Date(engine.now() + process.skewMs) },
    ids: scene.ids,
    box: BOX,
    log: scene.log,
    steam: {
      openSession: async () => ({ kind: 'refused', reason: 'token_dead' }),
      readProfile: async (steamId) => {
        await gate(20, 400)
        return {
          kind: 'profile',
          profile: { steamId, name: 'nova', avatarUrl: 'a', profileUrl: 'p', level: 1, memberSince: null },
        }
      },
    },
    publicUrl: 'http://till.test',
    limits: { maxItems: 50, fleet: DEFAULT_FLEET_LIMITS },
  } satisfies IntentDeps
  const deps: Deps = {
    ...common,
    addDeliveries: deliveryWriter(common),
    trades: createTradeStore(common),
    departures: createDepartureStore(common),
    destinations: DESTINATIONS,
    core: scene.core,
    rules: DEFAULT_RULES,
    protectionDays: (game) => DEFAULT_PROTECTION_DAYS[game],
    historyEveryMs: 3_600_000,
  }
  const process: Process = { ...state, gate, connections, deps, handlers: tradeHandlers(deps) }
  return process
}

function crash({ engine, random }: Sim, process: Process): void {
  process.leases.clear()
  process.waiters.clear()
  process.connections.reset()
  engine.after(random.between(500, 60_000), () => revive(process))
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
  work().catch((error: unknown) => {
    if (error instanceof ConnectionLost || isSerializationFailure(error)) onFailure()
    else scene.fail(asViolation(error))
  })
}

const constraintErrorSchema = z.object({
  code: z.enum(['23505', '23514']),
  table: z.string(),
  message: z.string(),
})

/** The promise that the constraints of each table protect. docs/proofs.md lists the promises. */
const PROMISE_OF_TABLE: Record<string, PromiseName> = {
  account: 'I4',
  custody_entry: 'I13',
  deposit: 'I13',
  event: 'I9',
  ledger_entry: 'I6',
  trade: 'I13',
  trade_item: 'I8',
}

/** Turns an error of a constraint into a violation of the promise that it protects. */
function asViolation(error: unknown): unknown {
  const refused = constraintErrorSchema.safeParse(error).data
  const promise = refused && PROMISE_OF_TABLE[refused.table]
  return promise === undefined ? error : new Violation(promise, refused?.message ?? '', error)
}

const isSerializationFailure = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === '40001'

export function contextOf(scene: Scene, process: Process, { lease, endsAt }: HeldLease): BotContext {
  const botId = lease.botId
  const currentLease = () => process.leases.get(String(botId))
  return {
    botId,
    session: sessionOf(scene, {
      steam: scene.steam,
      bot: lease.steamId,
      gate: process.gate,
      process,
      isDown: () => scene.lost.has(lease.steamId),
    }),
    get leaseEpoch() {
      if (scene.leaseEpochs.get(botId) !== lease.leaseEpoch) scene.faults.note('write under an old lease')
      return lease.leaseEpoch
    },
    mayWrite: (neededMs) => (currentLease()?.endsAt ?? endsAt) - scene.engine.now() > neededMs,
  }
}

async function noteTokenRefusal(scene: Scene, { deps }: Process, lease: Lease): Promise<void> {
  scene.faults.note('token refused for a while')
  const now = deps.clock.now()
  const verdict = judgeTokenRefusal(lease.tokenRefusedAt, now)
  // The simulation refuses a token for minutes. A clock that is wrong by minutes cannot make that an hour.
  if (verdict.kind === 'dead')
    throw new Error('a token was refused for an hour, longer than the simulation refuses one')
  await putOffLogin(deps.db, lease, { reason: 'token_dead', refusedAt: now, until: verdict.at })
}

/** Renews the process's leases, gives up those of bots whose token is refused, and sometimes takes an unleased bot. */
export async function keepLeases(scene: Scene, process: Process): Promise<void> {
  const { engine } = scene
  for (const [botId, held] of process.leases) {
    if (scene.steam.refusesToken(held.lease.steamId)) {
      process.leases.delete(botId)
      await noteTokenRefusal(scene, process, held.lease)
      continue
    }
    const beforeMs = engine.now()
    if (await renewLease(process.deps.db, held.lease)) held.endsAt = beforeMs + LEASE_MS
    else process.leases.delete(botId)
  }
  // A process that has a bot looks for another bot less often, so both processes get bots.
  if (!scene.faults.areStopped && process.leases.size > 0 && scene.random.chance(0.6)) return
  const beforeMs = engine.now()
  const [lease] = await takeLeases(process.deps.db, process.name, 1)
  if (lease === undefined) return
  if (scene.steam.refusesToken(lease.steamId)) return noteTokenRefusal(scene, process, lease)
  if (scene.processes.some((other) => other !== process && other.leases.has(String(lease.botId)))) {
    scene.faults.note('two processes on one bot')
  }
  scene.leaseEpochs.set(lease.botId, lease.leaseEpoch)
  process.leases.set(String(lease.botId), { lease, endsAt: beforeMs + LEASE_MS })
  scene.trace.add(`${engine.now()} ${process.name.slice(0, 1)} speaks for bot ${lease.botId}`)
  if (lease.tokenRefusedAt !== null) {
    await noteSession(process.deps.db, lease, { expiresAt: null, acknowledged: true })
  }
  await setSessionState(process.deps.db, lease, null)
  scene.work.leaseTaken(lease.botId)
}
