/** Checks deploy/prometheus and deploy/grafana against the series of a gateway, and docs/operating.md against both. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import { register } from 'prom-client'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ERRORS, type ErrorCode } from '../contract/errors.ts'
import { createBotGauges } from './bots/jobs.ts'
import type { Tables } from './db/schema.ts'
import { createDepartureGauges } from './departures/jobs.ts'
import { createDriftGauges } from './drift/jobs.ts'
import { registerStorageMetrics } from './http/metrics-store.ts'
import { createMetrics, watchProcess } from './metrics.ts'
import { feedsOf } from './pricing/feeds.ts'
import { PRICE_SETTINGS, webSourcesOf } from './pricing/settings.ts'
import { priceSources } from './pricing/sources/all.ts'
import { createPriceGauges } from './pricing/survey.ts'

const read = (path: string) => readFileSync(join(import.meta.dirname, '..', path), 'utf8')

/** Returns every series that a gateway registers. Runs no query. */
function registeredSeries(): Map<string, { labels: string[]; isHistogram: boolean }> {
  const dialect = {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
  const { registry } = createMetrics({ version: '', commit: '', schema: '' })
  registerStorageMetrics(registry, new Kysely<Tables>({ dialect }))
  createBotGauges(registry)
  createDepartureGauges(registry)
  createDriftGauges(registry)
  createPriceGauges(registry)
  watchProcess(registry, { totalCount: 0, idleCount: 0, waitingCount: 0 })
  const metricSchema = z.object({ name: z.string(), type: z.string(), labelNames: z.array(z.string()) })
  return new Map(
    registry.getMetricsAsArray().map((metric) => {
      const { name, type, labelNames } = metricSchema.parse(metric)
      return [name, { labels: labelNames, isHistogram: type === 'histogram' }]
    }),
  )
}

const series = registeredSeries()
afterAll(() => register.clear())

type Rule = { alert: string; expr: string }

/** Reads the rules from the file's text, where each field has one line. */
function rulesOf(text: string): Rule[] {
  const matches = [...text.matchAll(/^ {6}- alert: (\w+)\n {8}expr: (['"])(.*)\2\n {8}for: \d+[mh]\n/gm)]
  return matches.map(([, alert = '', quote, expr = '']) => ({
    alert,
    expr: quote === "'" ? expr.replaceAll("''", "'") : expr,
  }))
}

const rules = rulesOf(read('deploy/prometheus/alerts.yml'))
const dashboardSchema = z.object({
  panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })) })),
})
const { panels } = dashboardSchema.parse(JSON.parse(read('deploy/grafana/tradetill.json')))
const expressions = [
  ...rules.map(({ alert, expr }) => [`alert ${alert}`, expr]),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [`panel ${title}`, expr])),
]

const SERIES_NAME = /\b(?:tradetill|nodejs|process)_\w+/g

/** A histogram has three series: `_bucket`, `_count` and `_sum`. */
function seriesNamed(name: string) {
  const base = name.replace(/_(?:bucket|count|sum)$/, '')
  return series.get(name) ?? (series.get(base)?.isHistogram === true ? series.get(base) : undefined)
}

describe.each(expressions)('%s', (_, expr = '') => {
  const names = [...expr.matchAll(SERIES_NAME)].map(([name]) => name)

  it('uses only existing series and labels', () => {
    expect(names.filter((name) => seriesNamed(name) === undefined)).toEqual([])
    const labels = names.flatMap((name) => seriesNamed(name)?.labels ?? [])
    const inBraces = [...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, inner = '']) =>
      [...inner.matchAll(/(\w+)(?:=~|!~|!=|=)/g)].map(([, label]) => label),
    )
    const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', '))
    const unknown = [...inBraces, ...grouped].filter(
      (label) => ![...labels, 'le', 'job'].includes(label ?? ''),
    )
    expect(unknown).toEqual([])
  })

  it('never adds up values that several gateways read from one database', () => {
    const gauges = names.filter((name) => series.has(name) && !/_total$/.test(name))
    const isSum = gauges.length > 0 && /\bsum(?: by \([^)]*\) )?\(tradetill_/.test(expr)
    expect(isSum).toBe(false)
  })
})

describe('docs/operating.md', () => {
  const text = read('docs/operating.md')

  it('has a row with advice for every alert, and no other rows', () => {
    const rows = [...text.matchAll(/^\| `([A-Z][a-z]\w+)` \| [^|]+ \| [^|]+ \|$/gm)].map(([, name]) => name)
    expect(rows).toEqual(rules.map(({ alert }) => alert))
    expect(rows.length).toBeGreaterThan(25)
  })

  it('names every series of the till', () => {
    const ofTill = [...series.keys()].filter((name) => name.startsWith('tradetill_'))
    expect(ofTill.length).toBeGreaterThan(35)
    expect(ofTill.filter((name) => !text.includes(`\`${name}`))).toEqual([])
  })
})

it('every series of the till is used in an alert or on the dashboard', () => {
  const ofTill = [...series.keys()].filter((name) => name.startsWith('tradetill_'))
  const shown = expressions.map(([, expr]) => expr).join(' ')
  expect(ofTill.filter((name) => !new RegExp(`\\b${name}(?:_bucket|_count)?\\b`).test(shown))).toEqual([])
})

it('the alert about an outage of Steam does not fire during maintenance', () => {
  const { expr } = rules.find(({ alert }) => alert === 'SteamOutage') ?? {}
  expect(expr).toContain('tradetill_outage{capability!="maintenance"}')
})

it('the alert about failed calls counts those with a log line of a failure, and none that maintenance or Steam explains', () => {
  const { expr = '' } = rules.find(({ alert }) => alert === 'CallsFail') ?? {}
  const codes = /tradetill_refusals_total\{code=~"([^"]+)"\}/.exec(expr)?.[1] ?? ''
  // Maintenance, an outage of Steam and a lack of bots have alerts or advice of their own.
  const explained: ErrorCode[] = ['steam_unavailable', 'technical_works', 'no_bot_available']
  const failures = Object.entries(ERRORS).filter(
    ([code, { status }]) => status >= 500 && !explained.some((each) => each === code),
  )
  expect(codes.split('|').sort()).toEqual(failures.map(([code]) => code).sort())
})

it('the alert about old prices does not fire between two requests for a feed', () => {
  const { expr = '' } = rules.find(({ alert }) => alert === 'PricesOld') ?? {}
  const limitsMs = (feed: string) =>
    expr
      .split(' or ')
      .filter((part) => !part.includes(feed === 'rates' ? 'feed!="rates"' : 'feed="rates"'))
      .map((part) => Number(/ > (\d+)$/.exec(part)?.[1]) * 1000)
  const web = webSourcesOf(z.object(PRICE_SETTINGS).parse({}), 'live')
  const feeds = priceSources({ file: undefined, web }, { now: () => new Date() }).flatMap((source) =>
    feedsOf(source).map((feed) => ({ name: `${source.name} ${feed}`, feed, everyMs: source.pace.everyMs })),
  )
  expect(feeds.length).toBeGreaterThan(10)
  expect(feeds.filter(({ feed, everyMs }) => !(Math.min(...limitsMs(feed)) > everyMs))).toEqual([])
})

it('the alert about old rates does not fire before the rates of a new day are due', () => {
  const { expr = '' } = rules.find(({ alert }) => alert === 'RatesOld') ?? {}
  const web = webSourcesOf(z.object(PRICE_SETTINGS).parse({ TRADETILL_PRICE_SOURCES: 'rates' }), 'live')
  const [source] = priceSources({ file: undefined, web }, { now: () => new Date() })
  // A rate is dated in the first minutes of its day. The reference rate can be older, but the newest rate counts.
  const oldestS = 24 * 3600 + (source?.pace.everyMs ?? Infinity) / 1000
  expect(Number(/ > (\d+)$/.exec(expr)?.[1])).toBeGreaterThan(oldestS)
})

it('every alert has a severity and a summary', () => {
  const alerts = read('deploy/prometheus/alerts.yml')
  const completeAlerts = [
    ...alerts.matchAll(/ {10}severity: (?:page|ticket)\n {8}annotations:\n {10}summary: \S.+$/gm),
  ]
  expect(completeAlerts.length).toBe(rules.length)
  expect([...alerts.matchAll(/- alert:/g)].length).toBe(rules.length)
})
