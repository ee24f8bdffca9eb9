/** Exchange rates from open.er-api.com, which changes them once a day and needs no API key. */
import { z } from 'zod'
import { CURRENCIES } from '../../../contract/money.ts'
import { RATES_SOURCE } from '../exchange.ts'
import { getJson, readAnswer } from './http.ts'
import { secondsSchema } from './rows.ts'
import type { PriceSource } from './source.ts'

const MAX_BYTES = 256 * 1024

const answerSchema = z.object({
  result: z.literal('success'),
  base_code: z.literal('USD'),
  time_last_update_unix: secondsSchema,
  rates: z.record(z.string(), z.unknown()),
})

/** Leaves out a currency that is missing or not a plain number. Its last good rate stays, and ages. */
export function webRates(base: string): PriceSource {
  return {
    name: RATES_SOURCE,
    pace: { everyMs: 6 * 3_600_000, gapMs: 60_000 },
    isLocal: false,
    fetchRates: async (signal) => {
      const body = await getJson(new URL('/v6/latest/USD', base), signal, MAX_BYTES)
      const answer = readAnswer(answerSchema, body)
      const asOf = new Date(answer.time_last_update_unix * 1000)
      return CURRENCIES.flatMap((currency) => {
        const perUsd = answer.rates[currency]
        return typeof perUsd === 'number' ? [{ currency, perUsd: String(perUsd), asOf }] : []
      })
    },
  }
}
