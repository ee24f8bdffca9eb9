/** Times when Steam refuses a bot's logins, or refuses or would hold its offers, whoever the shopper is. */
import type { RefusedReason } from '../../gateway/steam/steam.ts'
import type { Sim } from './process.ts'

/**
 * `hold`: Steam would hold every trade of the bot. `token`: its session ends, and its token opens no new one. `from` and
 * `until`: times of the engine, in milliseconds since 1970.
 */
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

/** At most this many misfortunes are drawn for a bot. A cancel of an offer in escrow adds another one, a cooldown. */
const MOST_EACH = 2

/** Draws the misfortunes of a bot that begin between now and `withinMs` later. */
export function drawMisfortunes(
  { engine, random }: Pick<Sim, 'engine' | 'random'>,
  withinMs: number,
): Misfortune[] {
  return Array.from({ length: random.int(MOST_EACH + 1) }, () => {
    const from = engine.now() + random.int(withinMs)
    return { reason: random.pick(REASONS), from, until: from + random.between(20_000, 600_000) }
  })
}
