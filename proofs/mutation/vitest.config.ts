/** The tests of the pure money core alone: each mutation of it must be seen by them. `npm run prove -- mutate` uses this. */
import { defineConfig } from 'vitest/config'

const CORE =
  '{ledger/entry,ledger/reversal,trades/trade,trades/decide,trades/decide-offers,trades/alarm,trades/proof,deposits/deposit,pricing/price}'

export default defineConfig({ test: { include: [`gateway/${CORE}.test.ts`] } })
