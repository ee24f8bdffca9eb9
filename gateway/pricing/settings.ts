/** The operator's settings of prices, as they stand in the environment. */
import { z } from 'zod'
import { GAMES, type Game } from '../../contract/games.ts'
import { type GameRules, type PricingRules, rulesWith } from './price.ts'

type PerGame = Partial<Record<Game, number>>

/** A number for all games, others by game: `2500`, or `2500,rust:3000,tf:2800`. */
function perGame(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max} for all games, and others by game, such as ${min},rust:${max}`
  return z.string().transform((text, context): PerGame => {
    const set: PerGame = {}
    for (const part of text.split(',')) {
      const match = /^(?:(\w+):)?(\d{1,9})$/.exec(part.trim())
      const value = Number(match?.[2])
      const named = GAMES.filter((game) => match?.[1] === undefined || match[1] === game)
      if (match === null || named.length === 0 || value < min || value > max) {
        context.addIssue({ code: 'custom', message })
        return z.NEVER
      }
      for (const game of named) set[game] = value
    }
    return set
  })
}

/** Names and forms of the settings. */
export const PRICE_SETTINGS = {
  /** What the operator keeps, in hundredths of a percent. */
  TRADETILL_COMMISSION_BPS: perGame(0, 9_000).optional(),
  /** A price older than this many minutes says nothing. */
  TRADETILL_PRICE_MAX_AGE_MINUTES: perGame(1, 2_880).optional(),
  /** Fewest sales in 7 days, or listings where no source counts sales. */
  TRADETILL_PRICE_MIN_SALES: perGame(0, 100_000).optional(),
  /** How far above its 7-day level a price is paid, in hundredths of a percent. */
  TRADETILL_PRICE_SPIKE_BPS: perGame(0, 10_000).optional(),
} as const

type Settings = { [Name in keyof typeof PRICE_SETTINGS]: z.output<(typeof PRICE_SETTINGS)[Name]> }

const MINUTE_MS = 60_000

/** The rules of each game: what is set, the defaults for all else. */
export function rulesOf(settings: Partial<Settings>): PricingRules {
  return rulesWith((game) => {
    const ageMinutes = settings.TRADETILL_PRICE_MAX_AGE_MINUTES?.[game]
    const given: { [Rule in keyof GameRules]?: GameRules[Rule] | undefined } = {
      commissionBps: settings.TRADETILL_COMMISSION_BPS?.[game],
      freshMs: ageMinutes === undefined ? undefined : ageMinutes * MINUTE_MS,
      minPopularity: settings.TRADETILL_PRICE_MIN_SALES?.[game],
      spikeBps: settings.TRADETILL_PRICE_SPIKE_BPS?.[game],
    }
    return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  })
}
