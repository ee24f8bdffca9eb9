import { GAMES, type Game } from '../../contract/games.ts'
import type { Db } from '../db/client.ts'
import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import { readRate } from './exchange.ts'
import type { PriceSource, RateRow } from './sources/source.ts'
import { savePrices, saveRate } from './store.ts'

export type PricingDeps = { db: Db; sources: readonly PriceSource[]; clock: Clock; log: Log }

const REFRESH_MS = 10 * 60_000
const FETCH_MS = 60_000

/** Asks all sources, resolves once each has answered or failed, and goes on every ten minutes until stopped. */
export async function startPricing(deps: PricingDeps): Promise<{ stop(): Promise<void> }> {
  const ended = new AbortController()
  let running = refreshPrices(deps, ended.signal)
  const timer = setInterval(() => {
    running = running.then(() => refreshPrices(deps, ended.signal))
  }, REFRESH_MS)
  await running
  return {
    stop: async () => {
      clearInterval(timer)
      ended.abort()
      await running
    },
  }
}

/** Asks every source once. A source that fails leaves its last good prices, which age. */
export async function refreshPrices(deps: PricingDeps, signal: AbortSignal): Promise<void> {
  await Promise.all([saveDollar(deps), ...deps.sources.map((source) => refreshSource(deps, source, signal))])
}

async function refreshSource(deps: PricingDeps, source: PriceSource, signal: AbortSignal): Promise<void> {
  for (const game of GAMES)
    await attempt(deps, source, game, () => refreshGame(deps, { source, game, signal }))
  await attempt(deps, source, 'rates', () => refreshRates(deps, source, signal))
}

async function attempt(
  { log }: PricingDeps,
  { name }: PriceSource,
  what: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    log.warn({ err: error, source: name, what }, 'pricing: a source failed; its last prices stay')
  }
}

async function refreshGame(
  { db, log }: PricingDeps,
  { source, game, signal }: { source: PriceSource; game: Game; signal: AbortSignal },
): Promise<void> {
  const rows = await source.fetch(game, deadline(signal))
  if (rows.length > 0) await savePrices(db, { source: source.name, game }, rows)
  log.debug({ source: source.name, game, rows: rows.length }, 'pricing: prices taken')
}

const deadline = (signal: AbortSignal): AbortSignal =>
  AbortSignal.any([signal, AbortSignal.timeout(FETCH_MS)])

async function refreshRates(deps: PricingDeps, source: PriceSource, signal: AbortSignal): Promise<void> {
  const rates = (await source.fetchRates?.(deadline(signal))) ?? []
  for (const rate of rates) {
    if (rate.currency !== 'USD') await keepRate(deps, source.name, rate)
  }
}

async function keepRate({ db, clock, log }: PricingDeps, source: string, rate: RateRow): Promise<void> {
  const read = readRate(rate.currency, rate, clock.now())
  if (read.kind === 'rate') return saveRate(db, source, rate)
  log.warn({ source, currency: rate.currency, reason: read.reason }, 'pricing: an exchange rate is refused')
}

/** A dollar is a dollar; it has a row so that every quote can name its rate. */
function saveDollar({ db, clock }: PricingDeps): Promise<void> {
  return saveRate(db, 'fixed', { currency: 'USD', perUsd: '1', asOf: clock.now() })
}
