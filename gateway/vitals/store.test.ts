import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTill, type Till } from '../testing/till.ts'
import { readVitals, saveVitals } from './store.ts'
import { bucketOf, createVitals } from './vitals.ts'

let till: Till
beforeAll(async () => {
  till = await startTill()
})
afterAll(() => till.close())

test('the counts of two processes are added up by day, and deleted after 30 days', async () => {
  const [first, second] = [createVitals(), createVitals()]
  const place = { screen: 'deposit', device: 'phone', metric: 'LCP' } as const
  for (const vitals of [first, second]) {
    vitals.add(place, 1_000)
    vitals.add(place, 1_000)
    await saveVitals(till.db, vitals.take())
    // Takes no counts, because the first call took them all.
    await saveVitals(till.db, vitals.take())
  }
  first.add({ ...place, screen: 'help' }, 10)
  await saveVitals(till.db, first.take())
  expect(await readVitals(till.db, 7)).toEqual([
    { ...place, bucket: bucketOf('LCP', 1_000), pages: 4 },
    { ...place, screen: 'help', bucket: bucketOf('LCP', 10), pages: 1 },
  ])
  await sql`update page_vital set day = day - interval '7 days' where screen = 'deposit'`.execute(till.db)
  expect(await readVitals(till.db, 7)).toMatchObject([{ screen: 'help' }])
  expect(await readVitals(till.db, 8)).toMatchObject([{ screen: 'deposit' }, { screen: 'help' }])
  // With the 7 days above, these counts are 31 days old, and the next save deletes them.
  await sql`update page_vital set day = day - interval '24 days' where screen = 'deposit'`.execute(till.db)
  first.add(place, 1_000)
  await saveVitals(till.db, first.take())
  expect(await readVitals(till.db, 1_000)).toMatchObject([{ pages: 1 }, { screen: 'help' }])
})
