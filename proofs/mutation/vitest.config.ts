/** The tests of the pure money core, which must find its mutations. `npm run prove -- mutate` uses this file. */
import { defineConfig } from 'vitest/config'

const CORE =
  '{ledger/entry,ledger/reversal,trades/trade,trades/decide*,trades/stray,trades/alarm,trades/proof,trades/settlement,trades/by-hand,deposits/deposit,pricing/price,pricing/falls}'

export const CORE_TESTS = `gateway/${CORE}.test.ts`

export default defineConfig({ test: { include: [CORE_TESTS] } })
