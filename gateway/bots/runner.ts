/** Takes and gives up leases, so this process holds its share of the bots. */
import { pause } from '../kit/pause.ts'
import { countWork } from './count-work.ts'
import { DEFAULT_PACE, type HeldBot, type HeldBotDeps, holdBot, type Pace } from './held-bot.ts'
import { watchKeys } from './key-watch.ts'
import { takeLeases } from './lease-store.ts'
import { beatProcess, endProcess, readSpread } from './process-store.ts'
import { shareOf } from './spread.ts'

const SCAN_MS = 5_000
/** A process without a bot scans more often, to notice a newly enrolled one soon. */
const IDLE_SCAN_MS = 1_000

export type BotsOptions = Omit<HeldBotDeps, 'monotonicMs' | 'random' | 'pace'> & {
  /** `performance.now` by default. */
  monotonicMs?: () => number
  random?: () => number
  /** Identifies this process among the holders of leases: a new UUID at every start. */
  owner: string
  /** The most bots that this process may hold: 50 by default. 0 leaves all bots to other processes. */
  maxBots?: number
  pace?: Partial<Pace>
  /** Called with the number of live processes, including those that hold no bots. */
  onProcesses?: (count: number) => void
  /** The pause between scans for leases: 5 s by default. Shorter while this process may hold bots but has none. */
  scanMs?: number
}

type Holding = HeldBot & { isIdle(): boolean }

/** Holds this process's share of the bots. When stopped, releases all of them. */
export function startBots(options: BotsOptions): { stop(): Promise<void> } {
  const { owner, maxBots = 50, scanMs = SCAN_MS, db, log, box } = options
  const deps: HeldBotDeps = {
    monotonicMs: () => performance.now(),
    random: Math.random,
    ...options,
    pace: { ...DEFAULT_PACE, ...options.pace },
  }
  const noteKeys = watchKeys(deps)
  const stopping = new AbortController()
  /** In the order in which they were taken. */
  const held = new Set<Holding>()

  const take = async (most: number) => {
    const beforeMs = deps.monotonicMs()
    for (const lease of await takeLeases(db, owner, most)) {
      const { handlers, isIdle } = countWork(deps.handlers)
      const bot = { ...holdBot({ ...deps, handlers }, lease, beforeMs), isIdle }
      held.add(bot)
      bot.ended
        .catch((error: unknown) =>
          log.error({ err: error, botId: String(lease.botId) }, 'holding a bot failed'),
        )
        .finally(() => held.delete(bot))
    }
  }
  // Gives up one bot at a time, so the others keep working and Steam gets no burst of logins. The bots taken last are
  // often those of a process that stopped, which gets them back when it has restarted.
  const giveUpOne = async () => {
    const idle = [...held].findLast((bot) => bot.isIdle())
    await idle?.release()
  }
  const adjust = async () => {
    // First, so every process that takes bots is counted by the others.
    await beatProcess(db, { owner, maxBots, keyFingerprint: box.fingerprint })
    const { processes, bots } = await readSpread(db)
    noteKeys(processes.map(({ keyFingerprint }) => keyFingerprint))
    // A slow database may report this process only after its record has expired.
    options.onProcesses?.(Math.max(1, processes.length))
    const room = shareOf(owner, processes, bots) - held.size
    if (room > 0) await take(room)
    else if (room < 0) await giveUpOne()
  }
  const waitMs = () => (held.size === 0 && maxBots > 0 ? Math.min(scanMs, IDLE_SCAN_MS) : scanMs)
  const scan = async () => {
    do {
      await adjust().catch((error: unknown) =>
        log.warn({ err: error }, 'bot leases could not be taken or released'),
      )
    } while (await pause(waitMs(), stopping.signal))
  }
  const scanning = scan()
  return {
    async stop() {
      stopping.abort()
      await scanning
      await Promise.allSettled([endProcess(db, owner), ...[...held].map((bot) => bot.release())])
    },
  }
}
