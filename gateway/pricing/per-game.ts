/** A numeric setting that can differ per game, as written in the environment. */
import { z } from 'zod'
import { GAMES, type Game } from '../../contract/games.ts'

export type PerGame = Partial<Record<Game, number>>

/**
 * Parses a number for all games, numbers for individual games, or both: `2500`, `rust:3000`, or
 * `2500,rust:3000,tf:2800`. Of two numbers for the same game, the later one counts.
 */
export function perGame(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max} for all games, numbers for individual games, or both, such as ${min},rust:${max}`
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
