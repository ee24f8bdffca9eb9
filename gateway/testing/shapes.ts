/** Fields that several commands print. */
import { z } from 'zod'
import { GAMES } from '../../contract/games.ts'
import { CURRENCIES } from '../../contract/money.ts'

export const id = z.string().regex(/^[1-9]\d*$/)
export const time = z.iso.datetime()
export const minor = z.int()
export const currency = z.enum(CURRENCIES)
export const game = z.enum(GAMES)
export const scopes = z.array(z.string())

export const amount = z.strictObject({ amountMinor: minor, currency })

export const onRelease = { since: time, tradeId: z.string(), lastAt: time, reversals: z.int() }

export const shopperRecord = {
  steamId: z.string(),
  name: z.string().nullable(),
  isDenied: z.boolean(),
  isBot: z.boolean(),
  denied: z.strictObject({ reason: z.string(), deniedAt: time }).nullable(),
  onRelease: z.strictObject(onRelease).nullable(),
  history: z.strictObject({
    trades: z.int(),
    open: z.int(),
    delivered: z.int(),
    reversed: z.int(),
    declined: z.int(),
    firstAt: time.nullable(),
    lastAt: time.nullable(),
    stores: z.int(),
  }),
  money: z.array(z.strictObject({ currency, creditedMinor: minor, reversedMinor: minor, heldMinor: minor })),
}
