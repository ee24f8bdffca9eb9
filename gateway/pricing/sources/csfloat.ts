/** The lowest prices of Counter-Strike items on CSFloat, and of each phase of a Doppler. */
import { z } from 'zod'
import { MICROS_PER_CENT } from '../../../contract/money.ts'
import type { Clock } from '../../kit/clock.ts'
import { reasonOf } from '../../kit/reason.ts'
import { phaseName, phaseOf } from '../phase.ts'
import { getJson, readAnswer, readRows, SourceError } from './http.ts'
import { cheapest, countSchema, MAX_ROWS, nameSchema } from './rows.ts'
import type { PriceRow, PriceSource } from './source.ts'

const answerSchema = z.array(z.unknown()).max(MAX_ROWS)

const rowSchema = z.object({
  market_hash_name: nameSchema,
  quantity: countSchema,
  min_price: z.int().nonnegative().max(1e9),
})

const phaseListSchema = z.object({ data: z.array(z.unknown()).max(MAX_ROWS) })

/** The list of phases does not say how many items are on sale. */
const phaseRowSchema = z.object({
  market_hash_name: nameSchema,
  paint_index: z.int().nonnegative(),
  min_price: z.int().nonnegative().max(1e9),
})

/**
 * Answers have no time, so a price is as old as the call. Prices of items that are not on sale are estimates, so they
 * are left out. If the phases cannot be read, the main list is used without them.
 */
export function csfloatPrices({ base, clock }: { base: string; clock: Clock }): PriceSource {
  return {
    name: 'csfloat',
    pace: { everyMs: 15 * 60_000, gapMs: 60_000 },
    isLocal: false,
    games: ['cs'],
    fetch: async (_game, signal, reportMissing) => {
      const asOf = clock.now()
      const answer = await getJson(new URL('/api/v1/listings/price-list', base), signal)
      const rows = await readRows(rowSchema, readAnswer(answerSchema, answer))
      const listed = rows.filter(({ quantity }) => quantity > 0)
      const ofNames = listed.map((row) => priceRow(row.market_hash_name, row, asOf))
      try {
        return cheapest([...ofNames, ...(await phaseRows(base, asOf, signal))])
      } catch (error) {
        const pauseMs = error instanceof SourceError ? error.retryAfterMs : null
        reportMissing?.(new SourceError(`the phases of Dopplers are missing: ${reasonOf(error)}`, pauseMs))
        return cheapest(ofNames)
      }
    },
  }
}

type Row = Pick<z.output<typeof rowSchema>, 'min_price' | 'quantity'>

const priceRow = (name: string, { min_price: cents, quantity }: Row, asOf: Date): PriceRow => ({
  marketHashName: name,
  usdMicros: BigInt(cents) * MICROS_PER_CENT,
  levelUsdMicros: null,
  popularity: quantity,
  popularityKind: 'listings',
  asOf,
})

async function phaseRows(base: string, asOf: Date, signal: AbortSignal): Promise<PriceRow[]> {
  const answer = await getJson(new URL('/api/v1/listings/price-list/doppler', base), signal)
  const rows = await readRows(phaseRowSchema, readAnswer(phaseListSchema, answer).data)
  return rows.flatMap(({ market_hash_name: marketHashName, paint_index: paintIndex, min_price }) => {
    const phase = phaseOf({ marketHashName, paintIndex }, 'cs')
    if (phase === undefined) return []
    return [priceRow(phaseName(marketHashName, phase), { min_price, quantity: 0 }, asOf)]
  })
}
