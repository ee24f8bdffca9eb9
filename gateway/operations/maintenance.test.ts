import { afterAll, beforeAll, expect, test } from 'vitest'
import { operatorOf } from '../testing/operator.ts'
import { startTill, type Till } from '../testing/till.ts'
import { type Announcement, switchMaintenanceOff, switchMaintenanceOn } from './maintenance.ts'

let till: Till
beforeAll(async () => {
  till = await startTill()
})
afterAll(() => till.close())

const SOON = new Date(Date.now() + 3_600_000)

test.each<[string, Announcement]>([
  ['a text in one language', { text: { en: 'We are moving.' } }],
  ['a text of two lines', { text: { en: 'a\nb', ru: 'a' } }],
  ['a text that is too long', { text: { en: 'a'.repeat(301), ru: 'a' } }],
  ['an end that is past', { until: new Date(0) }],
  ['an end in a year', { lasts: '365d' }],
  ['a duration that cannot be read', { lasts: 'long' }],
  ['both a duration and an end', { lasts: '1h', until: SOON }],
])('maintenance with %s is refused, and stays off', async (_what, announcement) => {
  expect(await switchMaintenanceOn(operatorOf(till), announcement)).toMatchObject({ refusal: 'usage' })
  expect(await switchMaintenanceOff(operatorOf(till))).toMatchObject({ kind: 'unchanged' })
})

test('maintenance and each change of its notice are recorded with text and end', async () => {
  const text = { en: 'We are moving.', ru: 'Мы переезжаем.' }
  const begun = await switchMaintenanceOn(operatorOf(till), { text, lasts: '45m' })
  expect(begun).toMatchObject({ kind: 'done', data: { on: true, text }, message: /It ends at 20\d\d-/ })
  expect(await switchMaintenanceOn(operatorOf(till), { text, until: SOON })).toMatchObject({ kind: 'done' })
  expect(await switchMaintenanceOn(operatorOf(till), { text, until: SOON })).toMatchObject({
    kind: 'unchanged',
  })
  const acts = await till.db.selectFrom('operator_act').select('arguments').orderBy('id').execute()
  expect(acts.map((row) => row.arguments)).toEqual([
    { text, until: expect.any(String) },
    { text, until: SOON.toISOString() },
  ])
})
