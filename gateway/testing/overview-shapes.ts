/** The shapes of what `overview`, `money` and `weather` print with `--json`. */
import { z } from 'zod'
import { currency, id, minor, time } from './shapes.ts'

const calls = {
  asked: z.int(),
  limited: z.int(),
  failed: z.int(),
  heldBack: z.int(),
  averageMs: z.int().nullable(),
  longestMs: z.int().nullable(),
}

export const OVERVIEW_SHAPES: Record<string, z.ZodObject> = {
  overview: z.strictObject({
    hours: z.array(z.strictObject({ at: time, opened: z.int(), succeeded: z.int() })),
    statuses: z.array(z.strictObject({ status: z.string(), count: z.int() })),
    credited: z.array(z.strictObject({ currency, amountMinor: minor, deposits: z.int() })),
    funnel: z.strictObject({
      opened: z.int(),
      linked: z.int(),
      priced: z.int(),
      offered: z.int(),
      paid: z.int(),
    }),
    needs: z.strictObject({
      restoreUnfinished: z.int(),
      tradesOverdue: z.int(),
      botsDead: z.int(),
      botsUnheld: z.int(),
      botsBarred: z.int(),
      storesAtLimit: z.int(),
      shoppersTookBack: z.int(),
      tokensEndSoon: z.int(),
      endpointsLost: z.int(),
      endpointsFailing: z.int(),
      webhooksLate: z.int(),
      departuresUnexplained: z.int(),
      itemsMissing: z.int(),
      vaultNeeds: z.int(),
      proposalsOpen: z.int(),
      feedsFailing: z.int(),
      ledgerDifferences: z.int(),
    }),
    open: z.array(z.strictObject({ kind: z.string(), count: z.int(), text: z.string() })),
    vitals: z.array(
      z.strictObject({
        screen: z.string(),
        device: z.string(),
        metric: z.string(),
        p75: z.number(),
        pages: z.int(),
      }),
    ),
  }),
  money: z.strictObject({
    balances: z.array(
      z.strictObject({ storeId: id, store: z.string(), currency, heldMinor: minor, availableMinor: minor }),
    ),
    own: z.array(z.strictObject({ kind: z.string(), currency, amountMinor: minor })),
    atRisk: z.array(
      z.strictObject({ storeId: id, store: z.string(), usdMinor: minor, limitUsdMinor: minor }),
    ),
    isCut: z.boolean(),
    check: z
      .strictObject({ completeAt: time.nullable(), differences: z.int(), verifiedEntry: z.string() })
      .nullable(),
  }),
  weather: z.strictObject({
    outages: z.array(z.strictObject({ kind: z.string(), since: time })),
    notice: z
      .strictObject({
        text: z.strictObject({ en: z.string(), ru: z.string() }).nullable(),
        until: time.nullable(),
      })
      .nullable(),
    bots: z.array(
      z.strictObject({
        botId: id,
        bot: z.string(),
        online: z.boolean(),
        offersFailingSince: time.nullable(),
        inventoriesFailingSince: time.nullable(),
      }),
    ),
    hours: z.array(
      z.strictObject({
        at: time,
        asked: z.int(),
        limited: z.int(),
        failed: z.int(),
        heldBack: z.int(),
      }),
    ),
    methods: z.array(z.strictObject({ method: z.string(), ...calls })),
    methodBots: z.array(z.strictObject({ botId: id.nullable(), bot: z.string().nullable(), ...calls })),
  }),
}
