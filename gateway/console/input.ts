/** Schemas of the JSON fields that calls take. The ids of rows are strings. */
import { z } from 'zod'
import { CURRENCIES } from '../../contract/money.ts'
import { isSteamId } from '../../contract/steam-id.ts'

const MOST_ROWS = 200

export const id = z
  .string()
  .regex(/^[1-9]\d{0,17}$/, 'must be a number')
  .transform(BigInt)
export const text = (most = 200) => z.string().min(1).max(most)
export const steamId = z.string().refine(isSteamId, 'must be a 64-bit Steam id: 17 digits')
export const currency = z.enum(CURRENCIES)
export const time = z.iso.datetime({ offset: true }).transform((typed) => new Date(typed))
export const nothing = z.object({})

/** Keyset pages. `before`: the id of the last row that the previous page examined. */
export const page = { before: id.optional(), limit: z.int().min(1).max(MOST_ROWS).default(50) }
