/** The tests of the pure money core, which must find its mutations. `npm run prove -- mutate` uses this file. */
import { defineConfig } from 'vitest/config'

const CORE =
  '{ledger/entry,ledger/reversal,trades/trade,trades/decide*,trades/stray,trades/alarm,trades/proof,deposits/deposit,pricing/price,pricing/falls,trades/settlement,trades/by-hand}'

export default defineConfig({ test: { include: [`gateway/${CORE}.test.ts`] } })
