import { z } from 'zod'
import { listedDeposit } from './deposit-shapes.ts'
import { onRelease, shopperRecord, time } from './shapes.ts'

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

export const SHOPPER_SHAPES: Record<string, z.ZodObject> = {
  'shopper deny': deniedShopper,
  'shopper allow': z.strictObject({ steamId: z.string() }),
  'shopper list': z.strictObject({
    shoppers: z.array(deniedShopper),
    onRelease: z.array(z.strictObject({ steamId: z.string(), ...onRelease })),
  }),
  'shopper show': z.strictObject({
    ...shopperRecord,
    deposits: z.array(listedDeposit),
    openTrades: deniedShopper.shape.openTrades,
  }),
  'shopper trust': z.strictObject({ steamId: z.string() }),
  'shopper erase': z.strictObject({
    deposits: z.int(),
    trades: z.int(),
    reads: z.int(),
    keptDeposits: z.int(),
    keptEvents: z.int(),
    keptDepartures: z.int(),
    keptWishes: z.int(),
    keptActs: z.int(),
    isDenied: z.boolean(),
    isOnRelease: z.boolean(),
  }),
}
