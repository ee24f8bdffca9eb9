import { expect, onTestFinished, test } from 'vitest'
import { createApiKey } from '../stores/api-key.ts'
import { startStoreApi } from '../testing/store-api.ts'
import { aDeposit, startTill } from '../testing/till.ts'
import { createCallerLookups } from './caller-lookups.ts'

test('a deposit is known if a page polls it or the database has it, and a key if it is valid', async () => {
  const till = await startTill()
  onTestFinished(till.close)
  const api = await startStoreApi(till)
  onTestFinished(() => api.app.close())
  const polled = 'c'.repeat(32)
  const views = { has: (hash: string) => hash === polled }
  const lookups = createCallerLookups({ db: till.db, clock: till.clock, keyMode: 'sandbox', views })
  const { hash } = await aDeposit(till, api.store)
  const hashes = [hash, polled, 'f'.repeat(32)]
  expect(await Promise.all(hashes.map(lookups.deposit))).toEqual([true, true, false])
  const headers = [`Bearer ${api.key}`, api.key, `Bearer ${createApiKey('sandbox').key}`, 'Bearer x', '']
  expect(await Promise.all(headers.map(lookups.key))).toEqual([true, false, false, false, false])
})
