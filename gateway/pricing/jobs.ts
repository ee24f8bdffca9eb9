/** Asks the sources of prices and exchange rates, and stores their answers. */
import type { Game } from '../../contract/games.ts'
import type { Db } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import type { TillClock } from '../kit/clock.ts'
import { HOUR_MS } from '../kit/duration.ts'
import type { Log } from '../kit/log.ts'
import { reasonOf } from '../kit/reason.ts'
import { type Repeating, repeat } from '../kit/repeat.ts'
import {
  isContradicted,
  isJump,
  type RateRefusal,
  REFERENCE_MAX_AGE_MS,
  REFERENCE_SOURCE,
  readRate,
} from './exchange.ts'
import { configureSources } from './feed-store.ts'
import { feedsOf, noteFailure, noteSuccess, takeDueFeed } from './feeds.ts'
import { FILE_SOURCE, type PricingRules } from './price.ts'
import { SourceError } from './sources/http.ts'
import type { Feed, PriceSource, RateRow } from './sources/source.ts'
import {
  ageFuturePrices,
  forgetPricesBefore,
  forgetWithdrawn,
  latestRates,
  savePrices,
  saveRate,
} from './store.ts'

export type PricingDeps = {
  db: Db
  sources: readonly PriceSource[]
  clock: TillClock
  rules: PricingRules
  log: Log
}

/** How often to check whether a source has a due feed. */
const CHECK_EVERY_MS = 5_000
const FETCH_TIMEOUT_MS = 60_000

/**
 * Marks as removed the sources that the settings no longer name, reads the local sources, then asks every source at
 * its own pace until stopped.
 */
export async function startPricing(deps: PricingDeps): Promise<Repeating> {
  const { log } = deps
  const stopping = new AbortController()
  const { signal } = stopping
  const names = deps.sources.map(({ name }) => name)
  await configureSources(deps.db, names, deps.clock.now())
  await refreshLocal(deps, signal)
  const turns = deps.sources.map((source) =>
    repeat({ name: `prices of ${source.name}`, everyMs: CHECK_EVERY_MS, log }, () =>
      refreshDue(deps, source, signal),
    ),
  )
  turns.push(
    // This also keeps the dollar's rate fresh.
    repeat({ name: 'local prices', everyMs: HOUR_MS, atOnce: false, log }, () => refreshLocal(deps, signal)),
    repeat({ name: 'deletion of old prices', everyMs: 24 * HOUR_MS, log }, () => forgetPrices(deps)),
  )
  return {
    again() {
      for (const turn of turns) turn.again()
    },
    stop: async () => {
      stopping.abort()
      await Promise.all(turns.map((turn) => turn.stop()))
    },
  }
}

/** Reads all feeds of the local sources, and writes the dollar's rate of 1. */
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

const PRICES_KEPT_MS = 30 * 24 * HOUR_MS

/** Deletes prices that their source has not updated for 30 days, except frozen ones. */
export function forgetPrices({ db, clock }: Pick<PricingDeps, 'db' | 'clock'>): Promise<void> {
  return forgetPricesBefore(db, new Date(clock.now().getTime() - PRICES_KEPT_MS))
}

type FeedRequest = { source: PriceSource; feed: Feed; signal: AbortSignal }

/** Requests the feed and stores its answer. A failing feed keeps its stored prices or rates, which age. */
async function refreshFeed(deps: PricingDeps, { source, feed, signal }: FeedRequest): Promise<void> {
  const { db, clock, log } = deps
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(FETCH_TIMEOUT_MS)])
  try {
    const { rows, problem, retryAfterMs } = await readFeed(deps, { source, feed, signal: deadline })
    await noteSuccess(db, { source, now: clock.now() }, { feed, refused: problem, retryAfterMs })
    log.debug({ source: source.name, feed, rows }, 'price source answered')
  } catch (error) {
    if (signal.aborted) return
    log.warn({ err: error, source: source.name, feed }, 'price source failed, its stored prices were kept')
    const retryAfterMs = error instanceof SourceError ? error.retryAfterMs : null
    await noteFailure(db, { source, now: clock.now() }, { feed, error: reasonOf(error), retryAfterMs })
  }
}

/** `problem`: which part of the answer is missing or was not accepted; null if there is none. */
type RefreshResult = { rows: number; problem: string | null; retryAfterMs: number | null }

async function readFeed(deps: PricingDeps, { source, feed, signal }: FeedRequest): Promise<RefreshResult> {
  if (feed !== 'rates') return takePrices(deps, { source, game: feed, signal })
  const rates = (await source.fetchRates?.(signal)) ?? []
  const refused: string[] = []
  for (const rate of rates) {
    const reason = rate.currency === 'USD' ? undefined : await keepRate(deps, source.name, rate)
    if (reason !== undefined) refused.push(`${rate.currency} ${rate.perUsd} is refused: ${reason}`)
  }
  return { rows: rates.length, problem: refused.length === 0 ? null : refused.join(', '), retryAfterMs: null }
}

async function takePrices(
  { db, clock, rules }: PricingDeps,
  { source, game, signal }: { source: PriceSource; game: Game; signal: AbortSignal },
): Promise<RefreshResult> {
  const missingParts: SourceError[] = []
  const rows = (await source.fetch?.(game, signal, (missingPart) => missingParts.push(missingPart))) ?? []
  const [missing] = missingParts
  const result = {
    rows: rows.length,
    problem: missing?.message ?? null,
    retryAfterMs: missing?.retryAfterMs ?? null,
  }
  if (rows.length === 0 && !source.isLocal) {
    const missingPart = missing === undefined ? '' : `, and ${missing.message}`
    throw new SourceError(`answered without a price${missingPart}`, result.retryAfterMs)
  }
  const origin = { source: source.name, game }
  const now = clock.now()
  const cappedRows = rows.map((row) => ({ ...row, asOf: capToNow(clock.tillTime(row.asOf), now) }))
  await inTransaction(db, async (tx) => {
    // The operator's file is right as it is. A list from the web may lack an item that is just not on sale.
    if (source.isLocal) await forgetWithdrawn(tx, origin, cappedRows)
    else await ageFuturePrices(tx, origin, now)
    await savePrices(tx, origin, cappedRows)
  })
  const newestMs = cappedRows.reduce((newest, { asOf }) => Math.max(newest, asOf.getTime()), 0)
  // An old list counts as a failure: otherwise the source would look healthy while none of its prices counts. Local
  // sources are exempt: they are files, whose prices keep the time that the operator wrote.
  if (!source.isLocal && now.getTime() - newestMs > rules[game].freshMs) {
    throw new SourceError(
      `answered with an old list: its newest price is from ${new Date(newestMs).toISOString()}`,
    )
  }
  return result
}

/** Limits times to the present. A price with a future time would keep newer ones out until then. */
const capToNow = (asOf: Date, now: Date): Date => new Date(Math.min(asOf.getTime(), now.getTime()))

type RateProblem = RateRefusal | 'jump' | 'too far from the reference'

/** Stores the rate, or resolves to the reason why it is not accepted. */
async function keepRate(
  { db, clock, log }: PricingDeps,
  source: string,
  rate: RateRow,
): Promise<RateProblem | undefined> {
  const { currency } = rate
  const now = clock.now()
  const asOf = capToNow(clock.tillTime(rate.asOf), now)
  // On a Monday the reference is from Friday: too old for payments, but recent enough for comparison.
  const ageLimit = source === REFERENCE_SOURCE ? { maxAgeMs: REFERENCE_MAX_AGE_MS } : {}
  const rateAnswer = readRate(currency, { ...rate, asOf, ...ageLimit }, now)
  const latest = await latestRates(db, currency, now)
  // The operator's file is compared only with the reference: a corrected rate can be far from the mistaken one.
  const previous = source === FILE_SOURCE ? undefined : latest.find((entry) => entry.source === source)
  const previousRate = previous && readRate(currency, { ...previous, ...ageLimit }, now)
  const hasJumped =
    rateAnswer.kind === 'rate' &&
    previousRate?.kind === 'rate' &&
    isJump(previousRate.perUsd, rateAnswer.perUsd)
  // A new rate of the reference only has to pass the check for jumps. The closer comparison would be with its own old
  // rate: after a real move it would refuse the new one, and then every other source.
  const reference = source === REFERENCE_SOURCE ? undefined : latest.find(isReference)
  const isApart = rateAnswer.kind === 'rate' && isContradicted(rateAnswer.perUsd, reference, now)
  if (rateAnswer.kind === 'rate' && !hasJumped && !isApart) {
    await saveRate(db, source, { ...rate, asOf })
    return undefined
  }
  const reason =
    rateAnswer.kind === 'refused' ? rateAnswer.reason : hasJumped ? 'jump' : 'too far from the reference'
  const { perUsd } = rate
  log.error({ source, currency, perUsd, reason, reference: reference?.perUsd }, 'exchange rate refused')
  return reason
}

const isReference = ({ source }: { source: string }): boolean => source === REFERENCE_SOURCE

/** The dollar's rate is 1. It is stored because every quote refers to the row of a rate. */
function saveDollar({ db, clock }: PricingDeps): Promise<void> {
  return saveRate(db, 'fixed', { currency: 'USD', perUsd: '1', asOf: clock.now() })
}
