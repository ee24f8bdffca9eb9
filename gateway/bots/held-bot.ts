/** Holds one bot for this process: keeps its lease and its session, and runs its work. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Db } from '../db/client.ts'
import type { Queue } from '../db/queue.ts'
import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import { pause } from '../kit/pause.ts'
import type { SecretBox } from '../kit/secret-box.ts'
import type { Steam, SteamSession, Unavailable } from '../steam/steam.ts'
import type { BotContext, BotHandlers } from './bot.ts'
import { trackHealth } from './health.ts'
import { type HealthKeeper, keepHealth } from './health-keeper.ts'
import {
  isLossUnexplained,
  LEASE_MS,
  type Lease,
  markDead,
  noteSession,
  putOffLogin,
  readToken,
  releaseLease,
  renewLease,
  setSessionState,
} from './lease-store.ts'
import { createLoginRetry } from './login-retry.ts'
import { completeProfile } from './profile.ts'
import { tokenPlace } from './service.ts'
import { observeSession } from './session-health.ts'
import { judgeTokenRefusal } from './token-refusal.ts'
import { startWork } from './work.ts'

/** How often to renew a lease and to read the live offers of a bot, in milliseconds. */
export type Pace = { beatMs: number; watchMs: number }

export const DEFAULT_PACE: Pace = { beatMs: 5_000, watchMs: 5_000 }

/** How long running work may take before its session is closed. */
const STOP_MS = 10_000
/** How often to write a bot's failures, and to check which failing calls to retry. */
const HEALTH_MS = 1_000
/** Pause after a failed renewal. */
const BEAT_AGAIN_MS = 1_000
/** How often to check whether a lease is over. A write to Steam checks the clock itself. */
const EXPIRY_MS = 100
/** How long to wait for the database where that must not hold up the bot. */
const BRIEF_MS = 2_000

export type HeldBotDeps = {
  /** Connections for lease queries alone, so these never wait behind other queries of the process. */
  db: Db
  queue: Queue
  steam: Steam
  box: SecretBox
  handlers: BotHandlers
  log: Log
  clock: Clock
  pace: Pace
  /** Monotonic time in milliseconds. */
  monotonicMs: () => number
  /** Returns a number from 0 to 1. */
  random: () => number
}

export type HeldBot = {
  /** Stops the work, closes the session and releases the lease. */
  release(): Promise<void>
  /** Resolves when this process no longer holds the bot, for any reason. */
  ended: Promise<void>
}

/** `takenAtMs` is the monotonic time before the query that took the lease. */
export function holdBot(deps: HeldBotDeps, lease: Lease, takenAtMs: number): HeldBot {
  const stop = new AbortController()
  const lost = new AbortController()
  const leaseKeeper = keepLease(deps, lease, { takenAtMs, stop, lost })
  const life = { stop: stop.signal, lost: lost.signal, leaseEndMs: leaseKeeper.endMs }
  const ended = runSessions(deps, lease, life).finally(async () => {
    stop.abort()
    await leaseKeeper.end
    await briefly(deps, lease, () => releaseLease(deps.db, lease))
  })
  return {
    ended,
    release() {
      stop.abort()
      return ended
    },
  }
}

type Keeping = { takenAtMs: number; stop: AbortController; lost: AbortController }

/** Renews the lease until stopped. Stops everything when the lease is lost or has run out. */
function keepLease(deps: HeldBotDeps, lease: Lease, { takenAtMs, stop, lost }: Keeping) {
  // Measured from before the query. The database measures from a later moment, so the lease ends here first.
  let endMs = takenAtMs + LEASE_MS

  const about = { botId: String(lease.botId), botName: lease.name }
  const lose = () => {
    lost.abort()
    stop.abort()
  }
  const runOut = () => {
    deps.log.error(about, 'lease of a bot was lost')
    lose()
  }
  const run = async () => {
    const isOver = () => deps.monotonicMs() >= endMs
    // Checks the end separately, because a renewal may wait for a silent database.
    const watch = setInterval(() => isOver() && !stop.signal.aborted && runOut(), EXPIRY_MS)
    const { beatMs } = deps.pace
    let waitMs = beatMs
    while (await pause(waitMs, stop.signal)) {
      const beforeMs = deps.monotonicMs()
      const renewal = renewLease(deps.db, lease).catch((error: unknown) => {
        deps.log.warn({ err: error, botId: String(lease.botId) }, 'lease of a bot could not be renewed')
        return undefined
      })
      // Does not wait after a stop: a renewal that reaches the database after the release changes nothing.
      const isKept = await unlessAborted(renewal, stop.signal)
      waitMs = isKept === undefined ? Math.min(beatMs, BEAT_AGAIN_MS) : beatMs
      if (stop.signal.aborted || isKept === undefined) continue
      if (!isKept) {
        lose()
        // No alert is needed if an operator retired the bot or took all bots from the gateways, or restored the database.
        if (await seemsUnexplained(deps, lease)) deps.log.error(about, 'lease of a bot was lost')
        else deps.log.info(about, 'lease of a bot was given up')
        break
      }
      endMs = beforeMs + LEASE_MS
    }
    clearInterval(watch)
  }
  return { endMs: () => endMs, end: run() }
}

/** Like `isLossUnexplained`, but true if the database does not answer soon. */
const seemsUnexplained = (deps: HeldBotDeps, { botId }: Lease): Promise<boolean> =>
  Promise.race([isLossUnexplained(deps.db, botId).catch(() => true), delay(BRIEF_MS, true, { ref: false })])

/** `lost` aborts before `stop` if the lease is gone: another process may already hold the bot. */
type Life = { stop: AbortSignal; lost: AbortSignal; leaseEndMs: () => number }
type OpenSession = { session: SteamSession; expiresAt: Date | null }
type OpenLife = Life & { session: SteamSession; keeper: HealthKeeper }

/** Opens the session, works until it breaks, and opens it again. Ends when stopped or when Steam refuses the token. */
async function runSessions(deps: HeldBotDeps, lease: Lease, life: Life): Promise<void> {
  const about = { botId: String(lease.botId), botName: lease.name }
  const keeper = keepHealth(deps, lease, trackHealth(deps.monotonicMs, lease.failing))
  const retry = createLoginRetry(deps.random)
  let isReported = false
  while (!life.stop.aborted) {
    const answer = await openSession(deps, lease)
    if (answer.kind === 'refused') return giveUpToken(deps, lease, answer.reason)
    if (answer.kind === 'unavailable') {
      const isHeldBack = answer.reason === 'not_our_turn'
      // Steam's own reason is more useful than the fact that we are waiting.
      if (!isHeldBack || !isReported) await reportOutOfReach(deps, lease, { answer, keeper })
      isReported = true
      await pause(isHeldBack ? retry.nextTurnMs() : retry.nextMs(), life.stop)
      continue
    }
    isReported = false
    // Another process may hold the bot by now, and then only that process may call Steam for it.
    if (life.stop.aborted) return answer.session.close()
    const startedMs = deps.monotonicMs()
    // Not awaited, because the bot's work does not need the profile.
    void quietly(deps, lease, () => completeProfile(deps, lease, life.stop))
    try {
      await prepareSession(deps, lease, answer)
      const work = workUntilTrouble(deps, lease, { ...life, session: answer.session, keeper })
      await unlessAborted(work, life.lost)
    } catch (error) {
      deps.log.error({ err: error, ...about }, 'work of a bot failed')
    }
    answer.session.close()
    // A session that keeps breaking must not cause a storm of logins.
    retry.recordSessionEnd(deps.monotonicMs() - startedMs)
    await pause(retry.nextMs(), life.stop)
  }
}

type LoginFailure = { answer: Unavailable; keeper: HealthKeeper }

async function reportOutOfReach(
  deps: HeldBotDeps,
  lease: Lease,
  { answer, keeper }: LoginFailure,
): Promise<void> {
  const { reason, detail } = answer
  const about = { botId: String(lease.botId), botName: lease.name, reason, detail }
  if (reason === 'not_our_turn') deps.log.info(about, 'bot login waited for its turn')
  else deps.log.warn(about, 'bot session could not be opened')
  keeper.health.recordNoSession(answer)
  await briefly(deps, lease, async () => {
    await setSessionState(deps.db, lease, `${reason}: ${detail}`)
    await keeper.write()
  })
}

/** Takes the bot out of service for a while, or until it is enrolled again, and gives up its lease. */
async function giveUpToken(
  deps: HeldBotDeps,
  lease: Lease,
  reason: 'token_dead' | 'token_malformed',
): Promise<void> {
  const about = { botId: String(lease.botId), botName: lease.name, reason }
  const now = deps.clock.now()
  const verdict = judgeTokenRefusal(lease.tokenRefusedAt, now)
  if (reason === 'token_malformed' || verdict.kind === 'dead') {
    deps.log.error(about, 'Steam refused the bot’s token: enrol the bot again')
    return quietly(deps, lease, () => markDead(deps.db, lease, reason))
  }
  const { at } = verdict
  deps.log.error({ ...about, againAt: at }, 'Steam refused the bot’s token: it will be tried again')
  await quietly(deps, lease, () => putOffLogin(deps.db, lease, { reason, refusedAt: now, until: at }))
}

/** Logs in with the stored token, because an operator may have renewed it since the last login. */
async function openSession(deps: HeldBotDeps, lease: Lease): ReturnType<Steam['openSession']> {
  let stored: Buffer | undefined
  await briefly(deps, lease, async () => {
    stored = await readToken(deps.db, lease)
  })
  // If the database answers only later, its token must not replace the one that Steam is about to judge.
  if (stored !== undefined && !stored.equals(lease.sealedToken)) {
    lease.sealedToken = stored
    lease.tokenRefusedAt = null
  }
  let token: string
  try {
    token = deps.box.open(lease.sealedToken, tokenPlace(lease.steamId))
  } catch {
    // The token may be good: most likely the gateway was started with another master key.
    return { kind: 'unavailable', reason: 'steam_error', detail: 'the stored token cannot be decrypted' }
  }
  return deps.steam.openSession(token)
}

/** Acknowledges Steam's notice about trade protection, if the account has not, and records when the token expires. */
async function prepareSession(
  deps: HeldBotDeps,
  lease: Lease,
  { session, expiresAt }: OpenSession,
): Promise<void> {
  const about = { botId: String(lease.botId), botName: lease.name }
  // Steam has accepted the token, so a later refusal is the first one again.
  lease.tokenRefusedAt = null
  if (!lease.acknowledged) {
    const answer = await session.acknowledgeProtection()
    lease.acknowledged = answer.kind === 'done'
    if (answer.kind !== 'done') {
      deps.log.warn(
        { ...about, detail: answer.detail },
        'Steam did not accept the acknowledgement about trade protection',
      )
    }
  }
  await briefly(deps, lease, () =>
    noteSession(deps.db, lease, { expiresAt, acknowledged: lease.acknowledged }),
  )
}

/** Resolves when stopped, or when the session no longer works. */
async function workUntilTrouble(deps: HeldBotDeps, lease: Lease, life: OpenLife) {
  const { promise: trouble, resolve: report } = Promise.withResolvers<string | undefined>()
  if (life.stop.aborted) return
  const { keeper } = life
  const onStop = () => report(undefined)
  life.stop.addEventListener('abort', onStop)
  const bot: BotContext = {
    botId: lease.botId,
    leaseEpoch: lease.leaseEpoch,
    session: observeSession(life.session, {
      report: (detail) => report(`session_dead: ${detail}`),
      onAnswer: keeper.health.recordAnswer,
      onRead: keeper.rememberRead,
    }),
    mayWrite: (deadlineMs) => !life.stop.aborted && life.leaseEndMs() - deps.monotonicMs() > deadlineMs,
  }
  const about = { botId: String(lease.botId), botName: lease.name }
  const stopWork = await startWork({ ...deps, watchMs: deps.pace.watchMs }, bot)
  const closed = new AbortController()
  const watching = watchHealth(deps, lease, { bot, keeper, closed: closed.signal })
  let stopping: Promise<void> | undefined
  const stopTakingJobs = () => (stopping ??= quietly(deps, lease, stopWork))
  try {
    await setSessionState(deps.db, lease, null)
    deps.log.info({ ...about, leaseEpoch: String(lease.leaseEpoch) }, 'bot came online')
    const why = await trouble
    if (why !== undefined) deps.log.warn({ ...about, detail: why }, 'bot session stopped working')
    // From now on, the bot's jobs are left to its next holder, which may be this process again.
    stopTakingJobs()
    await briefly(deps, lease, () => setSessionState(deps.db, lease, why ?? 'stopped'))
  } finally {
    life.stop.removeEventListener('abort', onStop)
    closed.abort()
    await briefly(deps, lease, () => watching)
    // After STOP_MS, closing the session cuts off the remaining work.
    await Promise.race([stopTakingJobs(), delay(STOP_MS, undefined, { ref: false })])
  }
}

type Watched = { bot: BotContext; keeper: HealthKeeper; closed: AbortSignal }

async function watchHealth(deps: HeldBotDeps, lease: Lease, { bot, keeper, closed }: Watched): Promise<void> {
  do {
    keeper.retry(bot.session)
    await quietly(deps, lease, keeper.write)
  } while (await pause(HEALTH_MS, closed))
}

/** Logs the failure of a step that must not block the next one. A lease that cannot be released still runs out. */
async function quietly(deps: HeldBotDeps, lease: Lease, step: () => Promise<void>): Promise<void> {
  try {
    await step()
  } catch (error) {
    deps.log.warn({ err: error, botId: String(lease.botId) }, 'step of a held bot’s work failed')
  }
}

/** Runs the step, but waits for it no longer than BRIEF_MS. */
async function briefly(deps: HeldBotDeps, lease: Lease, step: () => Promise<void>): Promise<void> {
  await Promise.race([quietly(deps, lease, step), delay(BRIEF_MS, undefined, { ref: false })])
}

/** Resolves to undefined as soon as `signal` aborts. The result of the work is then ignored. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const { promise: aborted, resolve } = Promise.withResolvers<undefined>()
  const end = () => resolve(undefined)
  signal.addEventListener('abort', end)
  if (signal.aborted) end()
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', end))
}
