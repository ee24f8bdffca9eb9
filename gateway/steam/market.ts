/** Reads from Steam's description whether the market takes an item. Every string in it is hostile. */
import { z } from 'zod'
import { type restrictionFields, restrictionOf } from './restriction.ts'
import type { Market } from './steam.ts'

/** Steam writes its notes last, and a description may list a whole crate before them. */
const LAST_LINES = 20
const MOST_LETTERS = 400

export const marketFields = {
  marketable: z.unknown().optional(),
  /**
   * Days for which a market purchase cannot be sold again. Steam states them for every such item, restricted or not.
   */
  market_marketable_restriction: z.coerce.number().catch(0),
  descriptions: z
    .array(z.unknown())
    .transform((lines) => lines.slice(-LAST_LINES))
    .catch([]),
}

type Fields = z.infer<z.ZodObject<typeof marketFields & typeof restrictionFields>>

/** An unmarketable item counts as restricted only if Steam gives the end of the restriction. */
export function marketOf(fields: Fields): Market {
  const { marketable, market_marketable_restriction: days } = fields
  if (marketable === 1 || marketable === true || marketable === '1') return { kind: 'open' }
  const restriction = days > 0 ? restrictionOf(fields) : null
  return restriction?.kind === 'held' ? { kind: 'restricted', until: restriction.until } : { kind: 'closed' }
}

const line = z.object({ value: z.string() })

/**
 * The words are in the requested language, but the spaces inside the brackets come from Steam. A line of a
 * strange part has none: `(Kills: 12)`. Owners cannot write such a line, because Steam quotes theirs.
 */
const NOTE = /^\( .+ \)$/

export function isNoted({ descriptions }: Pick<Fields, 'descriptions'>): boolean {
  return descriptions.some((row) => {
    const { data } = line.safeParse(row)
    return data !== undefined && data.value.length <= MOST_LETTERS && NOTE.test(data.value)
  })
}
