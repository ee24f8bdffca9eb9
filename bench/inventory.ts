/** The cost of parsing a Steam inventory into priced items, compared with JSON.parse alone of the same answer. */
import { offeredOf } from '../gateway/inventory/offered.ts'
import { DEFAULT_RULES, type SourcePrice } from '../gateway/pricing/price.ts'
import { createPriceList } from '../gateway/pricing/service.ts'
import { parsePartnerPage } from '../gateway/steam/parse.ts'
import { inventoryPage } from '../gateway/testing/steam-page.ts'
import { median, type Outcome } from './outcome.ts'

/** The factor by which parsing and pricing together may take longer than JSON.parse alone. */
const MOST_TIMES = 6
const ROUNDS = 15
/** The factor by which the cost may grow with ten times the items: linear growth, plus a tenth for noise. */
const MOST_GROWTH = 11

const NOW = new Date('2026-01-01T12:00:00Z')
/** 0.86 EUR for a dollar, with eight decimals. */
const RATE = { rateId: 1n, currency: 'EUR', perUsd: 86_000_000n } as const

export async function benchInventory(): Promise<Outcome> {
  const small = measure(1_000)
  const large = measure(10_000)
  const times = large.oursMs / large.parseMs
  const growth = large.oursMs / small.oursMs
  for (const { count, bytes, parseMs, oursMs } of [small, large]) {
    console.log(
      `inventory: ${count} items, ${(bytes / 2 ** 20).toFixed(1)} MB: JSON.parse ${parseMs.toFixed(1)} ms of CPU, ` +
        `parsed and priced ${oursMs.toFixed(1)} ms, ${(oursMs / parseMs).toFixed(2)} times`,
    )
  }
  console.log(
    `inventory: 10 times the items cost ${growth.toFixed(1)} times as much (limit: ${MOST_GROWTH} times)`,
  )
  return {
    name: 'inventory',
    ours: `${large.oursMs.toFixed(1)}ms`,
    floor: `${large.parseMs.toFixed(1)}ms`,
    ratio: times,
    limit: `<=${MOST_TIMES}`,
    passed: times <= MOST_TIMES && growth <= MOST_GROWTH,
  }
}

type Measured = { count: number; bytes: number; parseMs: number; oursMs: number }

/** Measures JSON.parse and the conversion alternately in one run. Returns the medians, in milliseconds of CPU. */
function measure(count: number): Measured {
  const { page, names } = inventoryPage(count)
  const text = JSON.stringify(page)
  const prices = new Map(names.map((name) => [name, pricesFor(name)]))
  const parseMs: number[] = []
  const oursMs: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    parseMs.push(cpuMs(() => JSON.parse(text)))
    oursMs.push(cpuMs(() => priceAll(text, prices, count)))
  }
  return { count, bytes: Buffer.byteLength(text), parseMs: median(parseMs), oursMs: median(oursMs) }
}

function priceAll(text: string, prices: ReadonlyMap<string, SourcePrice[]>, count: number): void {
  const page = parsePartnerPage(JSON.parse(text))
  const list = createPriceList({ rate: RATE, prices, holds: [], rules: DEFAULT_RULES.cs, now: NOW })
  const context = {
    game: 'cs',
    prices: list,
    taken: new Set<string>(),
    imageBase: 'https://images.test',
    now: NOW,
  } as const
  const offered = offeredOf(page?.items ?? [], context)
  if (offered.shown.length !== count) throw new Error(`only ${offered.shown.length} of ${count} were priced`)
}

/** Several sources for each name, as in production. */
function pricesFor(name: string): SourcePrice[] {
  const usdMicros = BigInt(1_000_000 + name.length * 250_000)
  const price = { usdMicros, levelUsdMicros: usdMicros, popularity: 50, asOf: NOW, earlier: null }
  return ['market', 'skinport', 'waxpeer', 'file'].map((source) => ({
    ...price,
    source,
    popularityKind: source === 'skinport' ? ('sales7d' as const) : ('listings' as const),
  }))
}

function cpuMs(work: () => void): number {
  const usageBefore = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(usageBefore)
  return (user + system) / 1_000
}
