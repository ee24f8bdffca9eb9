import { type Incoming, json, type Reply } from './http.ts'

/** A limit: `burst` requests at once, and one more every `everyMs`. */
type Quota = {
  at: RegExp
  burst: number
  everyMs: number
  per: 'account' | 'address'
  /** Beyond this limit, Steam sends an empty answer instead of a refusal. */
  isSilent?: true
}

/** The behaviour that replaces every limit with TIGHT. */
export const TIGHT_QUOTAS = 'tight-quotas'
const TIGHT = { burst: 2, everyMs: 10_000 }

/**
 * Steam's limits. Those of IEconService and of partnerinventory were measured by others. The rest are guesses. The
 * sandbox does not tell addresses apart, so all callers share the limits per address.
 */
const QUOTAS: Quota[] = [
  { at: /\/IEconService\/(GetTradeOffer|GetTradeHoldDurations)\/v/, burst: 3750, everyMs: 5, per: 'account' },
  { at: /\/IEconService\/GetTradeOffers(Summary)?\/v/, burst: 85, everyMs: 125, per: 'account' },
  { at: /\/IEconService\/GetTradeStatus\/v/, burst: 25, everyMs: 2000, per: 'account' },
  { at: /\/IEconService\/GetTradeHistory\/v/, burst: 25, everyMs: 15_000, per: 'account' },
  {
    at: /\/IEconService\/GetInventoryItemsWithDescriptions\/v/,
    burst: 1,
    everyMs: 1000,
    per: 'account',
    isSilent: true,
  },
  { at: /\/tradeoffer\/new\/partnerinventory\/$/, burst: 30, everyMs: 4000, per: 'account' },
  { at: /\/tradeoffer\/new\/$/, burst: 20, everyMs: 15_000, per: 'account' },
  {
    at: /^steamcommunity\.com\/profiles\/\d+\/inventory\/json\//,
    burst: 15,
    everyMs: 2000,
    per: 'account',
  },
  { at: /^steamcommunity\.com\/inventory\//, burst: 60, everyMs: 4000, per: 'address' },
  { at: /^steamcommunity\.com\/tradeoffer\/new\/send$/, burst: 60, everyMs: 500, per: 'account' },
  { at: /^steamcommunity\.com\/tradeoffer\/\d+\/cancel$/, burst: 100, everyMs: 200, per: 'account' },
  { at: /^steamcommunity\.com\/tradeoffer\/\d+\/decline$/, burst: 100, everyMs: 200, per: 'account' },
  { at: /^steamcommunity\.com\/+trade\/new\/acknowledge/, burst: 20, everyMs: 5000, per: 'account' },
  { at: /^steamcommunity\.com\/mobileconf\/getlist$/, burst: 6, everyMs: 5000, per: 'account' },
  { at: /^steamcommunity\.com\/mobileconf\/(multi)?ajaxop$/, burst: 10, everyMs: 1000, per: 'account' },
  { at: /^steamcommunity\.com\/market\/priceoverview\/$/, burst: 20, everyMs: 3000, per: 'address' },
  { at: /^steamcommunity\.com\/profiles\/\d+\/?$/, burst: 200, everyMs: 100, per: 'address' },
  { at: /^steamcommunity\.com\/miniprofile\//, burst: 200, everyMs: 100, per: 'address' },
  { at: /^login\.steampowered\.com\/jwt\/finalizelogin$/, burst: 100, everyMs: 200, per: 'address' },
]

export type Quotas = ReturnType<typeof createQuotas>

type Options = {
  isOn: boolean
  /** True if TIGHT_QUOTAS is on for this caller. */
  isTight: (caller: string | undefined) => boolean
  nowS: () => number
}

/** Counts requests against Steam's limits. */
export function createQuotas({ isOn, isTight, nowS }: Options) {
  let buckets = new Map<string, { left: number; atMs: number }>()
  const take = (quota: Quota, caller: string | undefined): boolean => {
    const nowMs = nowS() * 1000
    const key = `${quota.at} ${quota.per === 'account' ? (caller ?? '') : ''}`
    const { burst, everyMs } = isTight(caller) ? TIGHT : quota
    const bucket = buckets.get(key) ?? { left: burst, atMs: nowMs }
    const left = Math.min(burst, bucket.left + Math.max(0, nowMs - bucket.atMs) / everyMs)
    buckets.set(key, { left: left >= 1 ? left - 1 : left, atMs: nowMs })
    return left >= 1
  }
  return {
    /** Steam's answer to a request beyond the limit; undefined within it. `caller`: the calling account, if known. */
    refuse(request: Incoming, caller?: string): Reply | undefined {
      const quota = QUOTAS.find(({ at }) => at.test(request.host + request.path))
      if (!quota || (!isOn && !isTight(caller)) || take(quota, caller)) return undefined
      return quota.isSilent ? json({ response: {} }, 200, { 'x-eresult': '1' }) : json(null, 429)
    },
    clear() {
      buckets = new Map()
    },
  }
}
