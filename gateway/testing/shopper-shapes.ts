/** The output of the commands about shoppers with `--json`. */
import { z } from 'zod'
import { listedDeposit } from './deposit-shapes.ts'
import { currency, minor, time } from './shapes.ts'

const deniedShopper = z.strictObject({
  steamId: z.string(),
  reason: z.string(),
  deniedAt: time,
  openTrades: z.array(
    z.strictObject({
      tradeId: z.string(),
      depositId: z.string(),
      botId: z.string(),
      offerId: z.string().nullable(),
    }),
  ),
})

const careful = { since: time, tradeId: z.string(), lastAt: time, reversals: z.int() }

export const SHOPPER_SHAPES: Record<string, z.ZodObject> = {
  'shopper deny': deniedShopper,
  'shopper allow': z.strictObject({ steamId: z.string() }),
  'shopper list': z.strictObject({
    shoppers: z.array(deniedShopper),
    onRelease: z.array(z.strictObject({ steamId: z.string(), ...careful })),
  }),
  'shopper show': z.strictObject({
    steamId: z.string(),
    name: z.string().nullable(),
    isDenied: z.boolean(),
    isBot: z.boolean(),
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
    money: z.array(
      z.strictObject({ currency, creditedMinor: minor, reversedMinor: minor, heldMinor: minor }),
    ),
    deposits: z.array(listedDeposit),
    denied: z.strictObject({ reason: z.string(), deniedAt: time }).nullable(),
    onRelease: z.strictObject(careful).nullable(),
    openTrades: deniedShopper.shape.openTrades,
  }),
  'shopper trust': z.strictObject({ steamId: z.string() }),
  'shopper erase': z.strictObject({
    deposits: z.int(),
    trades: z.int(),
    keptDeposits: z.int(),
    keptEvents: z.int(),
    isDenied: z.boolean(),
    isOnRelease: z.boolean(),
  }),
}
