import { expect, test } from 'vitest'
import { bucketOf, createVitals, deviceOf, vitalsOf } from './vitals.ts'

const PLACE = { screen: 'deposit', device: 'phone', metric: 'LCP' } as const
const sorted = (vitals: ReturnType<typeof createVitals>) => vitals.take().sort((a, b) => a.bucket - b.bucket)

test('the reported value is at least that of three in four pages, and at most 15 percent too high', () => {
  const vitals = createVitals()
  for (let ms = 10; ms <= 4_000; ms += 10) vitals.add(PLACE, ms)
  const [vital] = vitalsOf(sorted(vitals))
  expect(vital).toMatchObject({ ...PLACE, pages: 400 })
  expect(vital?.p75).toBeGreaterThanOrEqual(3_000)
  expect(vital?.p75).toBeLessThanOrEqual(3_450)
  expect(vitals.take()).toEqual([])
})

test('a layout shift is reported as a plain number, at most 15 percent too high', () => {
  const vitals = createVitals()
  for (const value of [0, 0.02, 0.1, 0.3]) vitals.add({ ...PLACE, metric: 'CLS' }, value)
  const [vital] = vitalsOf(sorted(vitals))
  expect(vital?.p75).toBeGreaterThanOrEqual(0.1)
  expect(vital?.p75).toBeLessThanOrEqual(0.115)
})

test('the number of buckets is small, whatever a page reports', () => {
  expect([0, 0.5, 1, 600_000].map((ms) => bucketOf('LCP', ms))).toEqual([0, 0, 0, 96])
  expect(bucketOf('CLS', 600_000)).toBeLessThan(150)
})

test.each([
  ['phone', { 'sec-ch-ua-mobile': '?1', 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' }],
  ['computer', { 'sec-ch-ua-mobile': '?0', 'user-agent': 'Mobile' }],
  [
    'phone',
    { 'user-agent': 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile/15E148 Safari/604.1' },
  ],
  ['computer', { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Firefox/130.0' }],
  ['computer', {}],
] as const)('a %s is recognised by its headers', (device, headers) => {
  expect(deviceOf(headers)).toBe(device)
})
