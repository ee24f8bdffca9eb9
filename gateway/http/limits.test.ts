import { expect, test } from 'vitest'
import { addressKey, createBuckets } from './limits.ts'

test('a bucket gives its burst, then as much as time brings', () => {
  let nowMs = 0
  const buckets = createBuckets({ perSecond: 2, burst: 3 }, () => nowMs)
  const taken = () => [1, 2, 3, 4].map(() => buckets.take('a'))
  expect(taken()).toEqual([true, true, true, false])
  expect(buckets.has('a')).toBe(false)
  expect(buckets.take('b')).toBe(true)
  nowMs = 1_000
  expect(taken()).toEqual([true, true, false, false])
  nowMs = 60_000
  expect(taken()).toEqual([true, true, true, false])
})

test('keys that are made up push out the longest unused one, so memory has an end', () => {
  const buckets = createBuckets({ perSecond: 0, burst: 1 }, () => 0)
  buckets.take('a')
  expect(buckets.has('a')).toBe(false)
  for (let n = 0; n < 50_000; n += 1) buckets.take(`made up ${n}`)
  expect(buckets.has('a')).toBe(true)
  expect(buckets.has('made up 0')).toBe(false)
})

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['2001:db8::a', '2001:db8:0:0'],
  ['2001:db8::b:0:0:1', '2001:db8:0:0'],
  ['2001:db8:0:1::a', '2001:db8:0:1'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['not an address', 'not an address'],
])('the subscriber of %s is %s', (ip, key) => {
  expect(addressKey(ip)).toBe(key)
})
