import { DEFAULT_PACE, type HeldBot, type HeldBotDeps, holdBot, type Pace, pause } from './held-bot.ts'
import { takeLeases } from './store.ts'

const SCAN_MS = 5_000
/** A process without a bot looks more often, to notice a newly enrolled one soon. */
const IDLE_SCAN_MS = 1_000

export type BotsOptions = Omit<HeldBotDeps, 'monotonicMs' | 'random' | 'pace'> & {
  /** The machine's by default. */
  monotonicMs?: () => number
  random?: () => number
  /** Names this process among the holders of leases. A new UUID at every start. */
  owner: string
  /** How many bots this process may hold. */
  maxBots?: number
  pace?: Partial<Pace>
}

/** Holds every bot that no other process holds. When stopped, releases all of them. */
export function startBots(options: BotsOptions): { stop(): Promise<void> } {
  const { owner, maxBots = 50, db, log } = options
  const deps: HeldBotDeps = {
    monotonicMs: () => performance.now(),
    random: Math.random,
    ...options,
    pace: { ...DEFAULT_PACE, ...options.pace },
  }
  const stopping = new AbortController()
  const held = new Set<HeldBot>()

  const take = async () => {
    const room = maxBots - held.size
    if (room <= 0) return
    const beforeMs = deps.monotonicMs()
    for (const lease of await takeLeases(db, owner, room)) {
      const bot = holdBot(deps, lease, beforeMs)
      held.add(bot)
      bot.ended
        .catch((error: unknown) =>
          log.error({ err: error, botId: String(lease.botId) }, 'holding a bot failed'),
        )
        .finally(() => held.delete(bot))
    }
  }
  const scan = async () => {
    do {
      await take().catch((error: unknown) =>
        log.warn({ err: error }, 'the leases of bots could not be taken'),
      )
    } while (await pause(held.size === 0 ? IDLE_SCAN_MS : SCAN_MS, stopping.signal))
  }
  const scanning = scan()
  return {
    async stop() {
      stopping.abort()
      await scanning
      await Promise.allSettled([...held].map((bot) => bot.release()))
    },
  }
}
