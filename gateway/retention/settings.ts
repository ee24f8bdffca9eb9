/** How long the till keeps temporary data. The ledger, events and the record of acts are kept forever. */
import { z } from 'zod'
import { DAY_MS, HOUR_MS } from '../kit/duration.ts'

const MOST_DAYS = 3_650

const whole = (min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`
  return z.coerce.number({ error }).int({ error }).min(min, { error }).max(max, { error })
}

export const KEEP_SETTINGS = {
  /** Attempts of webhooks, with the beginnings of their answers. */
  TRADETILL_KEEP_ATTEMPTS_DAYS: whole(1, MOST_DAYS).default(30),
  /** Webhooks that were delivered or given up. */
  TRADETILL_KEEP_DELIVERIES_DAYS: whole(1, MOST_DAYS).default(90),
  /** Inventory requests, and quotes that no trade refers to. */
  TRADETILL_KEEP_INVENTORIES_HOURS: whole(1, 24 * MOST_DAYS).default(24),
  /** Trade tokens, once the till no longer asks Steam about any trade of their deposit. */
  TRADETILL_KEEP_TOKENS_DAYS: whole(0, MOST_DAYS).default(1),
  /**
   * The receipt of an ended deposit, and the amount, shopper, bot and secret code on the deposit's page. After that, the
   * stored name, picture and profile address of the shopper are erased.
   */
  TRADETILL_KEEP_PAGES_DAYS: whole(1, MOST_DAYS).default(30),
}

type Settings = z.infer<z.ZodObject<typeof KEEP_SETTINGS>>

export type Keep = {
  attemptsMs: number
  deliveriesMs: number
  inventoriesMs: number
  tokensMs: number
  pagesMs: number
}

export const keepOf = (settings: Settings): Keep => ({
  attemptsMs: settings.TRADETILL_KEEP_ATTEMPTS_DAYS * DAY_MS,
  deliveriesMs: settings.TRADETILL_KEEP_DELIVERIES_DAYS * DAY_MS,
  inventoriesMs: settings.TRADETILL_KEEP_INVENTORIES_HOURS * HOUR_MS,
  tokensMs: settings.TRADETILL_KEEP_TOKENS_DAYS * DAY_MS,
  pagesMs: settings.TRADETILL_KEEP_PAGES_DAYS * DAY_MS,
})
