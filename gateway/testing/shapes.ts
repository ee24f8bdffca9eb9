/** Fields that many commands print. */
import { z } from 'zod'

export const id = z.string().regex(/^[1-9]\d*$/)
export const time = z.iso.datetime()
export const minor = z.int()
export const currency = z.enum(['USD', 'EUR', 'BRL'])
export const game = z.enum(['cs', 'dota', 'rust', 'tf'])
export const scopes = z.array(z.string())

export const amount = z.strictObject({ amountMinor: minor, currency })
