import type { FastifyRequest } from 'fastify'
import { describe, expect, test } from 'vitest'
import { addressKey, createAddressBuckets, createBuckets, createLimits } from './limits.ts'

test('a bucket gives its burst, then tokens at its rate', () => {
  let nowMs = 0
  const buckets = createBuckets({ perSecond: 2, burst: 3 }, () => nowMs)
  const takeFour = () => [1, 2, 3, 4].map(() => buckets.take('a'))
  expect(takeFour()).toEqual([true, true, true, false])
  expect(buckets.has('a')).toBe(false)
  expect(buckets.take('b')).toBe(true)
  nowMs = 1_000
  expect(takeFour()).toEqual([true, true, false, false])
  nowMs = 60_000
  expect(takeFour()).toEqual([true, true, true, false])
})

test('each deposit has a burst of 120 calls, then ten a second', () => {
  let nowMs = 0
  const { limitDeposit } = createLimits(() => nowMs)
  const countPassing = (hash: string) => {
    for (let calls = 0; ; calls += 1) {
      try {
        limitDeposit(hash)
      } catch (error) {
        expect(error).toMatchObject({ code: 'too_many_requests' })
        return calls
      }
    }
  }
  expect(countPassing('a')).toBe(120)
  nowMs = 1_000
  expect(countPassing('a')).toBe(10)
  expect(countPassing('b')).toBe(120)
})

test('an address has a burst of 20 reports of each kind, then one every five seconds; a network may send as many reports as 16 addresses', () => {
  let nowMs = 0
  const { limitReports } = createLimits(() => nowMs)
  const countPassing = (url: string, ips: string[]) =>
    ips.filter((ip) => {
      try {
        limitReports({ ip, routeOptions: { url } } as FastifyRequest)
        return true
      } catch (error) {
        expect(error).toMatchObject({ code: 'too_many_requests', retryAfterS: 5 })
        return false
      }
    }).length
  const errors = '/api/error-report'
  expect(countPassing(errors, Array(30).fill('203.0.113.9'))).toBe(20)
  expect(countPassing('/api/metrics', Array(30).fill('203.0.113.9'))).toBe(20)
  nowMs = 5_000
  expect(countPassing(errors, Array(30).fill('203.0.113.9'))).toBe(1)
  const network = Array.from({ length: 400 }, (_, n) => `2001:db8:1:${n.toString(16)}::1`)
  expect(countPassing(errors, network)).toBe(16 * 20)
})

test('after a call that cost more than was left, the bucket must refill before the next call', () => {
  let nowMs = 0
  const buckets = createBuckets({ perSecond: 2, burst: 3 }, () => nowMs)
  buckets.charge('a', 10)
  nowMs = 3_500
  expect(buckets.has('a')).toBe(false)
  nowMs = 4_000
  expect(buckets.has('a')).toBe(true)
})

test('made-up keys displace the key that was unused longest', () => {
  const buckets = createBuckets({ perSecond: 0, burst: 1 }, () => 0)
  buckets.take('a')
  expect(buckets.has('a')).toBe(false)
  // As many keys as are remembered.
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

describe('a /48 of IPv6', () => {
  const subscriber = (network: string, n: number) => `2001:db8:${network}:${n.toString(16)}::1`

  test('spends at most as much as 16 subscribers, and takes nothing from another /48', () => {
    const buckets = createAddressBuckets({ perSecond: 2, burst: 10 }, () => 0)
    const answers = Array.from({ length: 1_000 }, (_, n) => buckets.take(subscriber('1', n)))
    expect(answers.filter(Boolean)).toHaveLength(160)
    expect(buckets.has(subscriber('1', 2_000))).toBe(false)
    expect(buckets.take(subscriber('2', 0))).toBe(true)
  })

  test('cannot displace the buckets of others', () => {
    const buckets = createAddressBuckets({ perSecond: 2, burst: 1 }, () => 0)
    for (const other of ['203.0.113.9', '2001:db8:2::1']) buckets.take(other)
    // Every /64 in the /48.
    for (let n = 0; n < 65_536; n += 1) buckets.take(subscriber('1', n))
    expect(buckets.has('203.0.113.9')).toBe(false)
    expect(buckets.has('2001:db8:2::1')).toBe(false)
  })
})
