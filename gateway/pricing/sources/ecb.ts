/**
 * Reference rates of the European Central Bank: one file each working day, without an API key. The rates of other
 * sources must be close to them.
 */
import { CURRENCIES } from '../../../contract/money.ts'
import { crossRate, REFERENCE_SOURCE } from '../exchange.ts'
import { getText, SourceError } from './http.ts'
import type { PriceSource, RateRow } from './source.ts'

const MAX_BYTES = 64 * 1024
const DAY = /<Cube time=['"](\d{4}-\d\d-\d\d)['"]>/
const RATE = /<Cube currency=['"]([A-Z]{3})['"] rate=['"](\d{1,10}(?:\.\d{1,8})?)['"]\/>/g
/** Rates are published at about this time of day; in summer an hour earlier. */
const PUBLISHED_UTC = 'T15:00:00Z'

export function referenceRates(base: string): PriceSource {
  return {
    name: REFERENCE_SOURCE,
    pace: { everyMs: 6 * 3_600_000, gapMs: 60_000 },
    isLocal: false,
    fetchRates: async (signal) => {
      const url = new URL('/stats/eurofxref/eurofxref-daily.xml', base)
      return readReference(await getText(url, signal, { maxBytes: MAX_BYTES, accept: 'application/xml' }))
    },
  }
}

/** Converts units per euro to units per dollar. */
function readReference(text: string): RateRow[] {
  const day = DAY.exec(text)?.[1]
  const asOf = new Date(`${day}${PUBLISHED_UTC}`)
  const perEuro = new Map([...text.matchAll(RATE)].map(([, currency = '', rate = '']) => [currency, rate]))
  const dollars = perEuro.get('USD')
  if (Number.isNaN(asOf.getTime()) || dollars === undefined) {
    throw new SourceError('answered in an unexpected form: without a day, or without the dollar')
  }
  perEuro.set('EUR', '1')
  return CURRENCIES.flatMap((currency) => {
    const perUsd = crossRate(perEuro.get(currency) ?? '', dollars)
    return perUsd === undefined ? [] : [{ currency, perUsd, asOf }]
  })
}
