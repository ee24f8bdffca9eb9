/** The operator's settings for prices, from the environment. */
import { z } from 'zod'
import { GAMES, type Game } from '../../contract/games.ts'
import { isLoopback } from '../../contract/loopback.ts'
import { MINUTE_MS } from '../kit/duration.ts'
import { perGame } from './per-game.ts'
import { type GameRules, type PricingRules, rulesWith, withCommission } from './price.ts'

/** An https address, or one on this machine: with plain http, an attacker on the network could change prices. */
const address = z
  .url({ protocol: /^https?$/, error: 'must be an http(s) URL' })
  .refine((text) => new URL(text).protocol === 'https:' || isLoopback(new URL(text)), {
    error: 'must be https, or on this machine',
  })

const SOURCES = ['market', 'skinport', 'waxpeer', 'csfloat', 'rates', 'ecb'] as const

export const PRICE_SETTINGS = {
  /** The operator's share, in hundredths of a percent. */
  TRADETILL_COMMISSION_BPS: perGame(0, 9_000).optional(),
  /** A price older than this many minutes is ignored. */
  TRADETILL_PRICE_MAX_AGE_MINUTES: perGame(1, 2_880).optional(),
  /** A price older than this many minutes is ignored if another source has one at most this old. */
  TRADETILL_PRICE_FRESHER_MINUTES: perGame(1, 2_880).optional(),
  /** In hundredths of a percent. A larger fall also lowers older prices of other sources, and ends a quote. */
  TRADETILL_PRICE_FALL_BPS: perGame(1, 10_000).optional(),
  /** An accepted item has at least this many sales in 7 or 30 days at one source, or listings at each of two. */
  TRADETILL_PRICE_MIN_SALES: perGame(0, 100_000).optional(),
  /** How far a price may exceed its weekly level, or two sources may differ, in hundredths of a percent. */
  TRADETILL_PRICE_SPIKE_BPS: perGame(0, 10_000).optional(),
  /** Games whose commission is allowed to be too small to cover a pumped price, separated by commas. */
  TRADETILL_PRICE_ABOVE_LEVEL: z
    .string()
    .transform((text) => text.split(',').map((name) => name.trim()))
    .pipe(z.array(z.enum(GAMES, { error: `must be some of ${GAMES.join(', ')}` })))
    .optional(),
  /** The sources on the web to ask, separated by commas; `none` to ask no source. */
  TRADETILL_PRICE_SOURCES: z
    .string()
    .transform((text) => (text === 'none' ? [] : text.split(',').map((name) => name.trim())))
    .pipe(z.array(z.enum(SOURCES, { error: `must be some of ${SOURCES.join(', ')}, or none` })))
    .optional(),
  TRADETILL_MARKET_CS_URL: address.default('https://market.csgo.com'),
  TRADETILL_MARKET_DOTA_URL: address.default('https://market.dota2.net'),
  TRADETILL_MARKET_RUST_URL: address.default('https://rust.tm'),
  TRADETILL_MARKET_TF_URL: address.default('https://tf2.tm'),
  TRADETILL_SKINPORT_URL: address.default('https://api.skinport.com'),
  TRADETILL_WAXPEER_URL: address.default('https://api.waxpeer.com'),
  TRADETILL_CSFLOAT_URL: address.default('https://csfloat.com'),
  TRADETILL_RATES_URL: address.default('https://open.er-api.com'),
  TRADETILL_ECB_URL: address.default('https://www.ecb.europa.eu'),
} as const

type Settings = z.output<z.ZodObject<typeof PRICE_SETTINGS>>

const BPS_ONE = 10_000

export function rulesOf(settings: Settings): PricingRules {
  return rulesWith((game) => {
    const ageMinutes = settings.TRADETILL_PRICE_MAX_AGE_MINUTES?.[game]
    const supersededMinutes = settings.TRADETILL_PRICE_FRESHER_MINUTES?.[game]
    const fromSettings: { [Rule in keyof GameRules]?: GameRules[Rule] | undefined } = {
      commissionBps: settings.TRADETILL_COMMISSION_BPS?.[game],
      freshMs: ageMinutes === undefined ? undefined : ageMinutes * MINUTE_MS,
      supersededMs: supersededMinutes === undefined ? undefined : supersededMinutes * MINUTE_MS,
      fallBps: settings.TRADETILL_PRICE_FALL_BPS?.[game],
      minPopularity: settings.TRADETILL_PRICE_MIN_SALES?.[game],
      spikeBps: settings.TRADETILL_PRICE_SPIKE_BPS?.[game],
    }
    return Object.fromEntries(Object.entries(fromSettings).filter(([, value]) => value !== undefined))
  })
}

/**
 * Returns what is wrong with the commission, if anything. A price can exceed its weekly level by the spike limit. If
 * the commission does not cover the excess, somebody who pumps a price is paid more than the item is worth.
 */
export function problemOfRules(settings: Settings): string | undefined {
  const rules = rulesOf(settings)
  const intended = new Set(settings.TRADETILL_PRICE_ABOVE_LEVEL ?? [])
  const unintended = gamesAboveLevel(rules).filter((game) => !intended.has(game))
  if (unintended.length === 0) return undefined
  const allowed = GAMES.filter((game) => unintended.includes(game) || intended.has(game))
  return `is too small for ${unintended.join(', ')} compared with TRADETILL_PRICE_SPIKE_BPS: a pumped price would pay more than the item is worth; if that is intended, set TRADETILL_PRICE_ABOVE_LEVEL=${allowed.join(',')}`
}

/** Games in which a price at its limit pays more than the item's weekly level. */
const gamesAboveLevel = (rules: PricingRules): Game[] =>
  GAMES.filter((game) => rules[game].commissionBps < leastCommissionBps(rules[game]))

/** The smallest commission under which a price at its limit pays at most the item's weekly level. */
export const leastCommissionBps = ({ spikeBps }: Pick<GameRules, 'spikeBps'>): number =>
  BPS_ONE - Math.floor((BPS_ONE * BPS_ONE) / (BPS_ONE + spikeBps))

/** `leastBps`: the smallest safe commission. `aboveLevel`: the value of TRADETILL_PRICE_ABOVE_LEVEL that allows this one. */
type UnsafeCommission = { games: Game[]; leastBps: number; aboveLevel: Game[] }

type Allowed = { priceRules: PricingRules; mayPayAboveLevel: ReadonlySet<Game> }

/**
 * Returns the games for which a store's own commission is too small. Undefined if there are none, or if the store has
 * no commission of its own.
 */
export function unsafeCommissionOf(
  { priceRules, mayPayAboveLevel }: Allowed,
  commissionBps: number | null | undefined,
): UnsafeCommission | undefined {
  if (typeof commissionBps !== 'number') return undefined
  const above = gamesAboveLevel(withCommission(priceRules, commissionBps))
  const games = above.filter((game) => !mayPayAboveLevel.has(game))
  if (games.length === 0) return undefined
  const leastBps = Math.max(...games.map((game) => leastCommissionBps(priceRules[game])))
  return {
    games,
    leastBps,
    aboveLevel: GAMES.filter((game) => games.includes(game) || mayPayAboveLevel.has(game)),
  }
}

export type WebSources = {
  market?: Record<Game, string>
  skinport?: string
  waxpeer?: string
  csfloat?: string
  rates?: string
  ecb?: string
}

/** Live mode asks all sources by default. The sandbox has its own price list, and asks no other by default. */
export function webSourcesOf(settings: Settings, mode: 'sandbox' | 'live'): WebSources {
  const enabled = new Set(settings.TRADETILL_PRICE_SOURCES ?? (mode === 'live' ? SOURCES : []))
  const market = {
    cs: settings.TRADETILL_MARKET_CS_URL,
    dota: settings.TRADETILL_MARKET_DOTA_URL,
    rust: settings.TRADETILL_MARKET_RUST_URL,
    tf: settings.TRADETILL_MARKET_TF_URL,
  }
  return {
    ...(enabled.has('market') ? { market } : {}),
    ...(enabled.has('skinport') ? { skinport: settings.TRADETILL_SKINPORT_URL } : {}),
    ...(enabled.has('waxpeer') ? { waxpeer: settings.TRADETILL_WAXPEER_URL } : {}),
    ...(enabled.has('csfloat') ? { csfloat: settings.TRADETILL_CSFLOAT_URL } : {}),
    ...(enabled.has('rates') ? { rates: settings.TRADETILL_RATES_URL } : {}),
    ...(enabled.has('ecb') ? { ecb: settings.TRADETILL_ECB_URL } : {}),
  }
}
