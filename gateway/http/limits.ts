/** Token buckets in memory: generous for people, strict for guessers and floods. */

import type { FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import { remember } from '../kit/remember.ts'
import { refuse } from './refusal.ts'

export type Rate = { perSecond: number; burst: number }

export type Buckets = {
  /** Takes a token; false if none is left. */
  take(key: string): boolean
  /** True if a token is left. Does not take it. */
  has(key: string): boolean
}

/** For calls whose cost is only known once they are answered. */
export type CostBuckets = Pick<Buckets, 'has'> & {
  /** Takes the cost of a call, even if that is more than is left. `has` is then false until the bucket refills. */
  charge(key: string, cost: number): void
}

/** The most buckets to keep, so made-up keys cannot exhaust the memory. */
const MAX_KEYS = 50_000

/** `waitS`: seconds until `has` is true again, if it is false. */
export type TimedBuckets = Buckets & CostBuckets & { waitS(key: string): number }

export function createBuckets({ perSecond, burst }: Rate, nowMs: () => number): TimedBuckets {
  const buckets = new Map<string, { tokens: number; atMs: number }>()
  const currentBucket = (key: string) => {
    const now = nowMs()
    const bucket = buckets.get(key)
    const gained = bucket === undefined ? burst : ((now - bucket.atMs) / 1000) * perSecond
    return { tokens: Math.min(burst, (bucket?.tokens ?? 0) + gained), atMs: now }
  }
  const charge = (key: string, cost: number) => {
    const bucket = currentBucket(key)
    buckets.delete(key)
    buckets.set(key, { ...bucket, tokens: bucket.tokens - cost })
    dropOldest(buckets)
  }
  return {
    charge,
    waitS: (key) => Math.ceil((1 - currentBucket(key).tokens) / perSecond),
    has: (key) => !buckets.has(key) || currentBucket(key).tokens >= 1,
    take: (key) => {
      const allowed = currentBucket(key).tokens >= 1
      charge(key, allowed ? 1 : 0)
      return allowed
    },
  }
}

/** A Map keeps the order of insertion, and each charge reinserts, so the first entry was charged least recently. */
function dropOldest(buckets: Map<string, unknown>): void {
  if (buckets.size <= MAX_KEYS) return
  const oldest = buckets.keys().next()
  if (!oldest.done) buckets.delete(oldest.value)
}

/**
 * `key`: the subscriber, who has one IPv4 address or one /64 of IPv6. `network`: the /48 of an IPv6 address. Its owner
 * can pose as 65,536 subscribers.
 */
type Caller = { key: string; network: string | undefined }

function readCaller(ip: string): Caller {
  if (!ipaddr.isValid(ip)) return { key: ip, network: undefined }
  const address = ipaddr.process(ip)
  if (address instanceof ipaddr.IPv4) return { key: address.toString(), network: undefined }
  const parts = address.parts.slice(0, 4).map((part) => part.toString(16))
  return { key: parts.join(':'), network: parts.slice(0, 3).join(':') }
}

/**
 * How many parsed addresses to remember, and the most characters of each, enough for an IPv6 address with a zone.
 * Parsing an address takes a sixth of the time that a poll with an unchanged answer takes.
 */
export const REMEMBERED_ADDRESSES = { texts: 4_096, length: 64 }

const callerOf = remember(readCaller, REMEMBERED_ADDRESSES)

/** Returns the key of an address's subscriber, the same for every notation of the address. */
export const addressKey = (ip: string): string => callerOf(ip).key

/**
 * Returns the key of an address's network, whose owner can pose as many subscribers. For IPv4, returns the key of the
 * address itself.
 */
export function networkKey(ip: string): string {
  const { key, network } = callerOf(ip)
  return network ?? key
}

/** A network may spend as much as this many subscribers. */
const SUBSCRIBERS_OF_NETWORK = 16

/** Buckets of addresses. A network has a bucket too, so its addresses cannot displace the buckets of others. */
export function createAddressBuckets({ perSecond, burst }: Rate, nowMs: () => number): Buckets & CostBuckets {
  const subscribers = createBuckets({ perSecond, burst }, nowMs)
  const rate = { perSecond: perSecond * SUBSCRIBERS_OF_NETWORK, burst: burst * SUBSCRIBERS_OF_NETWORK }
  const networks = createBuckets(rate, nowMs)
  return {
    charge: (ip, cost) => {
      const { key, network } = callerOf(ip)
      if (network !== undefined) networks.charge(network, cost)
      subscribers.charge(key, cost)
    },
    has: (ip) => {
      const { key, network } = callerOf(ip)
      return subscribers.has(key) && (network === undefined || networks.has(network))
    },
    take: (ip) => {
      const { key, network } = callerOf(ip)
      return (network === undefined || networks.take(network)) && subscribers.take(key)
    },
  }
}

export type Limits = {
  /** False if the address has missed too often (unknown paths and hashes, wrong keys). */
  mayMiss(request: FastifyRequest): boolean
  countMiss(request: FastifyRequest): void
  /**
   * Refuses a call that changes something if its address has made too many. In the store API, a call that only reads
   * counts too if its store is not known yet.
   */
  limitChanges(request: FastifyRequest): void
  /**
   * Refuses a report if its address has sent too many of that kind. Reports are counted apart from other calls, so a
   * page with many errors can still make its calls.
   */
  limitReports(request: FastifyRequest): void
  /** Refuses too many calls about one deposit. Polls and reports are not counted. */
  limitDeposit(hash: string): void
  /** Refuses too many calls of one store. Only for a key that was accepted, because anyone can make one up. */
  limitStore(storeId: bigint): void
  /**
   * Refuses a changing call of a store that has sent too many bytes: a few calls could otherwise fill the disk, because
   * most of what a store sends is stored several times, and some of it forever.
   */
  limitBytes(storeId: bigint, bytes: number): void
  /** Refuses a read of a store whose answers had too many bytes: writing them takes the time of all other callers. */
  limitReads(storeId: bigint): void
  /** Counts the bytes of an answer, which are known only afterwards. */
  countRead(storeId: bigint, bytes: number): void
}

/** Routes of the reports that the page sends automatically. They must not use up the shopper's own calls. */
export const REPORTS: readonly string[] = ['/api/error-report', '/api/metrics']
/** An address may send one report of each kind in this time, after its burst. */
const REPORT_EVERY_S = 5

export function createLimits(nowMs: () => number = () => performance.now()): Limits {
  const misses = createAddressBuckets({ perSecond: 2, burst: 200 }, nowMs)
  const changes = createAddressBuckets({ perSecond: 50, burst: 300 }, nowMs)
  const reportRate = { perSecond: 1 / REPORT_EVERY_S, burst: 20 }
  const reports = new Map(REPORTS.map((route) => [route, createAddressBuckets(reportRate, nowMs)]))
  const deposits = createBuckets({ perSecond: 10, burst: 120 }, nowMs)
  const stores = createBuckets({ perSecond: 20, burst: 120 }, nowMs)
  const bytesOfStores = createBuckets({ perSecond: 32 * 1_024, burst: 8 * 1_024 * 1_024 }, nowMs)
  const readsOfStores = createBuckets({ perSecond: 4 * 1_024 * 1_024, burst: 64 * 1_024 * 1_024 }, nowMs)
  const refuseUnless = (allowed: boolean, retryAfterS = 1) => {
    if (!allowed) refuse('too_many_requests', { retryAfterS })
  }
  const refuseUntilRefilled = (buckets: TimedBuckets, key: string) => {
    if (!buckets.has(key)) refuse('too_many_requests', { retryAfterS: buckets.waitS(key) })
  }
  return {
    mayMiss: ({ ip }) => misses.has(ip),
    countMiss: ({ ip }) => void misses.take(ip),
    limitChanges: ({ ip }) => refuseUnless(changes.take(ip)),
    limitReports: ({ ip, routeOptions }) =>
      refuseUnless(reports.get(routeOptions.url ?? '')?.take(ip) ?? true, REPORT_EVERY_S),
    limitDeposit: (hash) => refuseUnless(deposits.take(hash)),
    limitStore: (storeId) => refuseUnless(stores.take(String(storeId))),
    limitBytes: (storeId, bytes) => {
      refuseUntilRefilled(bytesOfStores, String(storeId))
      bytesOfStores.charge(String(storeId), bytes)
    },
    limitReads: (storeId) => refuseUntilRefilled(readsOfStores, String(storeId)),
    countRead: (storeId, bytes) => readsOfStores.charge(String(storeId), bytes),
  }
}
