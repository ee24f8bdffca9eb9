/** Times in which Steam refuses the offers of a bot, or its logins, for reasons that no shopper can help. */
import type { RefusedReason } from '../../gateway/steam/steam.ts'
import type { Sim } from './process.ts'

/** `hold`: Steam would hold the bot's own side of every trade. `token`: its session ends, and its token opens none. */
export type Misfortune = { reason: RefusedReason | 'hold' | 'token'; from: number; until: number }

const REASONS = [
  'bot_cannot_trade',
  'too_many_in_all',
  'inventory_full',
  'rate_limited',
  'access_denied',
  'hold',
  'token',
] as const

const MOST_EACH = 2

/** Draws what befalls a bot within so long from now. */
export function drawMisfortunes(
  { engine, random }: Pick<Sim, 'engine' | 'random'>,
  withinMs: number,
): Misfortune[] {
  return Array.from({ length: random.int(MOST_EACH + 1) }, () => {
    const from = engine.now() + random.int(withinMs)
    return { reason: random.pick(REASONS), from, until: from + random.between(20_000, 600_000) }
  })
}
