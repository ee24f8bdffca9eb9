/** Reads from Steam's description why an item cannot be traded or sold now. Treats every string in it as hostile. */
import { z } from 'zod'
import type { Restriction } from './steam.ts'

/** A description with more lines counts as one without lines. Longer lines are cut. */
const MOST_LINES = 20
const MOST_LINE_CHARACTERS = 400
/** No restriction lasts longer, so a later date is ignored. */
const MOST_YEARS = 10

const line = z.object({ value: z.string().transform((text) => text.slice(0, MOST_LINE_CHARACTERS)) })

export const restrictionFields = {
  /** 1 if the item is sealed: under protection (type 0), or listed on the market (type 1). */
  sealed: z.unknown().optional(),
  sealed_type: z.unknown().optional(),
  owner_descriptions: z.array(line).max(MOST_LINES).catch([]),
  item_expiration: z
    .union([z.string().max(40), z.int().positive()])
    .optional()
    .catch(undefined),
}

type Fields = z.infer<z.ZodObject<typeof restrictionFields>>

/** `Apr 13, 2026 (7:00:00) GMT`; in other languages only the time in brackets looks the same. */
const ENGLISH_DATE = /\b([A-Z][a-z]{2}) (\d{1,2}), (20\d\d) \((\d{1,2}:\d\d:\d\d)\) GMT/
const UNIX_DATE = /\[date\](\d{9,11})\[\/date\]/
const TIME = /\(\d{1,2}:\d\d:\d\d\)/

/** The restriction of an item that cannot be traded or sold now; null if the description gives no details. */
export function restrictionOf(fields: Fields): Restriction | null {
  const lines = fields.owner_descriptions.map(({ value }) => value)
  const datedLine = lines.find(
    (value) => ENGLISH_DATE.test(value) || UNIX_DATE.test(value) || TIME.test(value),
  )
  const until = dateOf(fields.item_expiration) ?? dateIn(datedLine ?? '')
  if (isOne(fields.sealed) && !isOne(fields.sealed_type)) return { kind: 'protected', until }
  return until !== null || datedLine !== undefined ? { kind: 'held', until } : null
}

function dateIn(text: string): string | null {
  const unix = UNIX_DATE.exec(text)?.[1]
  if (unix !== undefined) return dateOf(Number(unix))
  const [, month = '', day = '', year = '', time = ''] = ENGLISH_DATE.exec(text) ?? []
  return month === '' ? null : dateOf(`${day} ${month} ${year} ${time} GMT`)
}

/** Returns ISO 8601; null for anything but a date from 2020 to ten years from now. Numbers are seconds since 1970. */
function dateOf(value: string | number | undefined): string | null {
  if (value === undefined) return null
  const date = new Date(typeof value === 'number' ? value * 1000 : value)
  const year = date.getUTCFullYear()
  return year >= 2020 && year <= new Date().getUTCFullYear() + MOST_YEARS ? date.toISOString() : null
}

function isOne(value: unknown): boolean {
  return value === 1 || value === true || value === '1'
}
