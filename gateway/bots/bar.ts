/** A bar: a time during which Steam's answers keep a bot from new trades, or make it the last choice. Pure. */
import type { Game } from '../../contract/games.ts'
import { HOUR_MS, MINUTE_MS } from '../kit/duration.ts'

export type BarReason =
  /** A new device, a cooldown or a ban. */
  | 'bot_cannot_trade'
  /** Steam would hold the bot's own side of a trade. */
  | 'own_hold'
  /** The bot has too many open offers, to all partners together. */
  | 'too_many_in_all'
  | 'inventory_full'
  | 'rate_limited'
  /** Several times, Steam refused an offer of this bot and then took the same offer from another bot. */
  | 'doubted'

/** `all`: the bar covers every game. */
export type BarScope = Game | 'all'

/** `times`: how many bars came one after another, without an offer that Steam took in between. */
export type Bar = { scope: BarScope; reason: BarReason; until: Date; times: number }

/** The effect of bars on the choice of a bot. A doubted bot is chosen only if no other bot can take the trade. */
export type BarState = 'free' | 'doubted' | 'barred'

/** How long the first bar lasts, and how long doubling can make a later one. */
type Rule = { firstMs: number; mostMs: number; isPerGame: boolean }

const RULES: Record<BarReason, Rule> = {
  bot_cannot_trade: { firstMs: 30 * MINUTE_MS, mostMs: 12 * HOUR_MS, isPerGame: false },
  own_hold: { firstMs: HOUR_MS, mostMs: 12 * HOUR_MS, isPerGame: false },
  too_many_in_all: { firstMs: MINUTE_MS, mostMs: 30 * MINUTE_MS, isPerGame: false },
  inventory_full: { firstMs: 10 * MINUTE_MS, mostMs: 6 * HOUR_MS, isPerGame: true },
  rate_limited: { firstMs: MINUTE_MS, mostMs: 30 * MINUTE_MS, isPerGame: false },
  doubted: { firstMs: 5 * MINUTE_MS, mostMs: 2 * HOUR_MS, isPerGame: false },
}

/** A bot is barred as doubted after this many doubts (partners whom only another bot could serve) within this time. */
export const DOUBTS_BEFORE_BAR = 3
export const DOUBTS_WITHIN_MS = HOUR_MS

export const scopeOf = (reason: BarReason, game: Game): BarScope => (RULES[reason].isPerGame ? game : 'all')

type BarringRefusal = { reason: BarReason; game: Game; now: Date }

/** Offers that were sent together are answered within this time. */
const TOGETHER_MS = 20_000

/**
 * True if a refusal during a bar does not lengthen the bar, because it has the bar's reason. Rate-limited requests are
 * repeated before the bar ends, so their refusals after `TOGETHER_MS` count separately.
 */
const belongsTo = (before: Bar, { reason, now }: BarringRefusal): boolean => {
  const { firstMs, mostMs } = RULES[reason]
  const beganMs = before.until.getTime() - Math.min(firstMs * 2 ** (before.times - 1), mostMs)
  return before.reason === reason && (reason !== 'rate_limited' || now.getTime() - beganMs < TOGETHER_MS)
}

/**
 * The bar after one more refusal. The length of the first bar for this reason is doubled for each earlier consecutive
 * bar, up to the longest. A bar that would end sooner than `before` does not replace it. `before`: the last bar of the
 * same scope, even if it has ended.
 */
export function nextBar(before: Bar | undefined, refusal: BarringRefusal): Bar {
  const { reason, game, now } = refusal
  const { firstMs, mostMs } = RULES[reason]
  if (before !== undefined && before.until > now && belongsTo(before, refusal)) return before
  const times = (before?.times ?? 0) + 1
  const lengthMs = Math.min(firstMs * 2 ** (times - 1), mostMs)
  const until = new Date(now.getTime() + lengthMs)
  const next: Bar = { scope: scopeOf(reason, game), reason, until, times }
  return before !== undefined && before.until > until ? before : next
}

/** `bars`: the bot's bars that cover one game. Queries use `barStateFor` in bar-store.ts; a test compares the two. */
export function barStateOf(bars: readonly Bar[], now: Date): BarState {
  const currentBars = bars.filter(({ until }) => until > now)
  if (currentBars.some(({ reason }) => reason !== 'doubted')) return 'barred'
  return currentBars.length > 0 ? 'doubted' : 'free'
}
