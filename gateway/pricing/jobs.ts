import type { Game } from '../../contract/games.ts'
import type { Db } from '../db/client.ts'
import type { TillClock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import { type Repeating, repeat } from '../kit/repeat.ts'
import { isJump, readRate } from './exchange.ts'
import { feedsOf, noteFailure, noteGood, takeDueFeed } from './feeds.ts'
import { SourceError } from './sources/http.ts'
import type { Feed, PriceSource, RateRow } from './sources/source.ts'
import { forgetPricesBefore, latestRates, savePrices, saveRate } from './store.ts'

export type PricingDeps = { db: Db; sources: readonly PriceSource[]; clock: TillClock; log: Log }

const TURN_MS = 5_000
const HOUR_MS = 3_600_000
const FETCH_MS = 60_000

/** Reads what lies on this machine, then asks every source at its own pace until stopped. */
export async function startPricing(deps: PricingDeps): Promise<Repeating> {
  const { log } = deps
  const ended = new AbortController()
  const { signal } = ended
  await refreshLocal(deps, signal)
  const turns = deps.sources.map((source) =>
    repeat({ name: `prices of ${source.name}`, everyMs: TURN_MS, log }, () =>
      refreshDue(deps, source, signal),
    ),
  )
  turns.push(
    // Also what the dollar's rate needs to stay fresh.
    repeat({ name: 'local prices', everyMs: HOUR_MS, atOnce: false, log }, () => refreshLocal(deps, signal)),
    repeat({ name: 'forgotten prices', everyMs: 24 * HOUR_MS, log }, () => forgetPrices(deps)),
  )
  return {
    again() {
      for (const turn of turns) turn.again()
    },
    stop: async () => {
      ended.abort()
      await Promise.all(turns.map((turn) => turn.stop()))
    },
  }
}

/** Asks the sources on this machine for everything, and makes a dollar a dollar. */
export async function refreshLocal(deps: PricingDeps, signal: AbortSignal): Promise<void> {
  await saveDollar(deps)
  for (const source of deps.sources.filter(({ isLocal }) => isLocal)) {
    for (const feed of feedsOf(source)) await refreshFeed(deps, { source, feed, signal })
  }
}

/** Asks the source for one feed, if one is due. */
export async function refreshDue(deps: PricingDeps, source: PriceSource, signal: AbortSignal): Promise<void> {
  const feed = await takeDueFeed(deps.db, { source, now: deps.clock.now() })
  if (feed !== undefined) await refreshFeed(deps, { source, feed, signal })
}

const KEEP_MS = 30 * 24 * HOUR_MS

/** To be called once in a while: forgets items that no source names any more. */
export function forgetPrices({ db, clock }: Pick<PricingDeps, 'db' | 'clock'>): Promise<void> {
  return forgetPricesBefore(db, new Date(clock.now().getTime() - KEEP_MS))
}

type Asking = { source: PriceSource; feed: Feed; signal: AbortSignal }

/** A feed that fails leaves its last good prices, which age. */
async function refreshFeed(deps: PricingDeps, { source, feed, signal }: Asking): Promise<void> {
  const { db, clock, log } = deps
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(FETCH_MS)])
  try {
    const rows = await take(deps, { source, feed, signal: deadline })
    await noteGood(db, { source, now: clock.now() }, feed)
    log.debug({ source: source.name, feed, rows }, 'pricing: a source answered')
  } catch (error) {
    if (signal.aborted) return
    log.warn({ err: error, source: source.name, feed }, 'pricing: a source failed; its last prices stay')
    const retryAfterMs = error instanceof SourceError ? error.retryAfterMs : null
    const said = error instanceof Error ? error.message : 'unknown'
    await noteFailure(db, { source, now: clock.now() }, { feed, error: said, retryAfterMs })
  }
}

async function take(deps: PricingDeps, { source, feed, signal }: Asking): Promise<number> {
  if (feed !== 'rates') return takePrices(deps, { source, game: feed, signal })
  const rates = (await source.fetchRates?.(signal)) ?? []
  for (const rate of rates) {
    if (rate.currency !== 'USD') await keepRate(deps, source.name, rate)
  }
  return rates.length
}

async function takePrices(
  { db, clock }: PricingDeps,
  { source, game, signal }: { source: PriceSource; game: Game; signal: AbortSignal },
): Promise<number> {
  const rows = (await source.fetch?.(game, signal)) ?? []
  if (rows.length === 0 && !source.isLocal) throw new SourceError('answered no price at all')
  if (rows.length === 0) return 0
  const now = clock.now()
  const past = rows.map((row) => ({ ...row, asOf: notAfter(clock.tillTime(row.asOf), now) }))
  await savePrices(db, { source: source.name, game }, past)
  return rows.length
}

/** A time that is yet to come would outlive all that is said until then. */
const notAfter = (asOf: Date, now: Date): Date => new Date(Math.min(asOf.getTime(), now.getTime()))

async function keepRate({ db, clock, log }: PricingDeps, source: string, rate: RateRow): Promise<void> {
  const { currency } = rate
  const now = clock.now()
  const asOf = notAfter(clock.tillTime(rate.asOf), now)
  const read = readRate(currency, { ...rate, asOf }, now)
  const before = (await latestRates(db, currency, now)).find((entry) => entry.source === source)
  const known = before && readRate(currency, before, now)
  const jumps = read.kind === 'rate' && known?.kind === 'rate' && isJump(known.perUsd, read.perUsd)
  if (read.kind === 'rate' && !jumps) return saveRate(db, source, { ...rate, asOf })
  const reason = read.kind === 'rate' ? 'jump' : read.reason
  log.error({ source, currency, reason }, 'pricing: an exchange rate is refused')
}

/** A dollar is a dollar; it has a row because every quote names its rate. */
function saveDollar({ db, clock }: PricingDeps): Promise<void> {
  return saveRate(db, 'fixed', { currency: 'USD', perUsd: '1', asOf: clock.now() })
}
