/**
 * Reads from Steam's description whether the market takes an item, and whether the item has a note. Treats every string
 * in it as hostile.
 */
import { z } from 'zod'
import { type restrictionFields, restrictionOf } from './restriction.ts'
import type { Market } from './steam.ts'

/** A note (see `NOTE`) is one of the last lines. The lines before them can list the entire contents of a crate. */
const LAST_LINES = 20
/** A longer line does not count as a note. */
const MOST_NOTE_CHARACTERS = 400

export const marketFields = {
  marketable: z.unknown().optional(),
  /**
   * Days for which a market purchase cannot be sold again. Steam gives the number for all copies of an item,
   * restricted or not.
   */
  market_marketable_restriction: z.coerce.number().catch(0),
  descriptions: z
    .array(z.unknown())
    .transform((lines) => lines.slice(-LAST_LINES))
    .catch([]),
}

type Fields = z.infer<z.ZodObject<typeof marketFields & typeof restrictionFields>>

/**
 * An unmarketable item counts as restricted only if Steam restricts such items at all, and gives the end of the
 * restriction. The end may be unreadable.
 */
export function marketOf(fields: Fields): Market {
  const { marketable, market_marketable_restriction: days } = fields
  if (marketable === 1 || marketable === true || marketable === '1') return { kind: 'open' }
  const restriction = days > 0 ? restrictionOf(fields) : null
  return restriction?.kind === 'held' ? { kind: 'restricted', until: restriction.until } : { kind: 'closed' }
}

const line = z.object({ value: z.string() })

/**
 * The form of a note that Steam adds, such as `( Not Usable in Crafting )`. Its words are in the requested language,
 * but a space always follows the first bracket. The line of a Strange Part has no such space: `(Kills: 12)`. Owners
 * cannot forge a note, because Steam puts their texts in quotation marks.
 */
const NOTE = /^\( .+ \)$/

export function isNoted({ descriptions }: Pick<Fields, 'descriptions'>): boolean {
  return descriptions.some((row) => {
    const { data } = line.safeParse(row)
    return data !== undefined && data.value.length <= MOST_NOTE_CHARACTERS && NOTE.test(data.value)
  })
}
