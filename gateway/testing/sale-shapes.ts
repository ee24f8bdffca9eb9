/** The output of `report sales` with `--json`. */
import { z } from 'zod'
import { currency, id, minor, time } from './shapes.ts'

export const reportedSales = z.strictObject({
  sales: z.array(
    z.strictObject({
      saleId: id,
      market: z.string(),
      reference: z.string(),
      state: z.enum(['sold', 'delivered', 'settling', 'paid', 'refused', 'cancelled', 'late', 'reversed']),
      byHand: z.boolean(),
      item: z.string(),
      depositId: id,
      appId: z.int(),
      game: z.string(),
      marketHashName: z.string(),
      soldAt: time,
      settlesAt: time.nullable(),
      currency,
      priceMinor: minor,
      receivedMinor: minor.nullable(),
      refundMinor: minor,
      costMinor: minor,
      costCurrency: currency,
      resultMinor: minor.nullable(),
    }),
  ),
  totals: z.array(
    z.strictObject({
      by: z.enum(['market', 'game', 'week']),
      name: z.string(),
      currency,
      sales: z.int(),
      broughtMinor: minor,
      feesMinor: minor,
      resultMinor: minor,
    }),
  ),
  markets: z.array(
    z.strictObject({
      market: z.string(),
      currency,
      settlingMinor: minor,
      freeMinor: minor,
      feesMinor: minor,
      saidAt: time.nullable(),
      settlingDifferenceMinor: minor.nullable(),
      settlingMayBeRounding: z.boolean(),
      freeDifferenceMinor: minor.nullable(),
      freeMayBeRounding: z.boolean(),
    }),
  ),
  isCut: z.boolean(),
})
