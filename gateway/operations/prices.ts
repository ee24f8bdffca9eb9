import { GAMES, type Game } from '../../contract/games.ts'
import type { LosingItem } from '../departures/sale-list-store.ts'
import { BANDS_USD, bandOf, countedNamesOf, judgeName, type Verdict } from '../pricing/coverage.ts'
import { listFeeds } from '../pricing/feed-store.ts'
import { judgeItems } from '../pricing/judge-items.ts'
import { freshOf, type SourcePrice } from '../pricing/price.ts'
import { covers, effectOfHolds, isPattern, type PriceHold } from '../pricing/price-hold.ts'
import { priceList, rulesOfStore } from '../pricing/service.ts'
import {
  countPatterns,
  isListed,
  readPriceHolds,
  readPrices,
  removePriceHold,
  savePriceHold,
} from '../pricing/store.ts'
import { act } from './act.ts'
import { type ActDeps, type Answer, done, type FindDeps, refused, unchanged } from './operation.ts'
import { losingItems } from './sales.ts'
import { unknownStore } from './store-check.ts'

export type PricedItem = { game: Game; item: string }

/** `item`: a name, or a pattern with `*`; null means the entire game. */
export type PriceTarget = { game: Game; item: string | null }

/** `usdMicros`: the price that an override sets, before commission; null for a block or a freeze. */
export type PriceHoldView = PriceTarget & { hold: PriceHold['kind']; usdMicros: bigint | null; since: Date }

export type PriceView = PricedItem & {
  /**
   * The name whose price counts. For a phase, this is the market name if the phase has no price of its own that
   * counts, or if a hold on the market name applies to it too (`nameInForce`).
   */
  pricedAs: string
  /** Price from each source. Only fresh sources count. */
  sources: (SourcePrice & { ageSeconds: number; fresh: boolean })[]
  holds: PriceHoldView[]
  commissionBps: number
  verdict: Verdict
  /**
   * The item's worth, and the shopper's credit for it. Null if the item is not accepted, or if there is no exchange rate.
   */
  worthUsdMicros: bigint | null
  credit: { amountMinor: bigint; currency: 'USD' } | null
  /** Why the item is not accepted; null if it is accepted, or if there is no exchange rate. */
  unavailable: string | null
}

export async function showPrice(
  deps: FindDeps,
  { game, item, storeId }: PricedItem & { storeId?: bigint | undefined },
): Promise<Answer<PriceView>> {
  const { config, db, clock } = deps
  const unknown = await unknownStore(db, storeId)
  if (unknown !== undefined) return unknown
  const now = clock.now()
  const rules = storeId === undefined ? config.priceRules : await rulesOfStore(db, config.priceRules, storeId)
  const names = countedNamesOf(item)
  const pricesByName = await readPrices(db, game, names)
  const holdsOfNames = await readPriceHolds(db, game, names)
  const inputs = { pricesByName, holds: holdsOfNames, rules: rules[game], now }
  const { pricedAs, verdict } = judgeName(item, inputs)
  const prices = pricesByName.get(pricedAs) ?? []
  const holds = holdsOfNames.filter((hold) => covers(hold, pricedAs))
  const { asOf } = effectOfHolds(holds, pricedAs, now)
  const fresh = new Set(freshOf(prices, rules[game], asOf))
  const view: PriceView = {
    game,
    item,
    pricedAs,
    sources: prices.map((each) => ({
      ...each,
      ageSeconds: Math.floor((asOf.getTime() - each.asOf.getTime()) / 1000),
      fresh: fresh.has(each),
    })),
    holds: holds.map((hold) => viewOf(game, hold)),
    commissionBps: rules[game].commissionBps,
    verdict,
    worthUsdMicros: null,
    credit: null,
    unavailable: null,
  }
  const list = await priceList(db, { game, currency: 'USD', names: [pricedAs], rules, now })
  if ('refused' in list) {
    const message = 'There is no exchange rate for the dollar: is a gateway running?'
    return { kind: 'refused', refusal: 'unavailable', message, data: view }
  }
  const price = list.priceOf(pricedAs)
  const [basis] = list.bases()
  if (price.kind === 'unavailable') return done({ ...view, unavailable: price.reason })
  const credit = { amountMinor: price.price, currency: 'USD' } as const
  return done({ ...view, worthUsdMicros: basis?.usdMicros ?? 0n, credit })
}

const viewOf = (game: Game, { name, kind, usdMicros, since }: PriceHold): PriceHoldView => ({
  game,
  item: name,
  hold: kind,
  usdMicros,
  since,
})

export type FeedsAndHolds = { feeds: Awaited<ReturnType<typeof listFeeds>>; holds: PriceHoldView[] }

export async function listPrices({ db }: FindDeps): Promise<Answer<FeedsAndHolds>> {
  const holds: PriceHoldView[] = []
  for (const game of GAMES) {
    holds.push(...(await readPriceHolds(db, game)).map((hold) => viewOf(game, hold)))
  }
  return done({ feeds: await listFeeds(db), holds })
}

/** Stops accepting an item, all items that match a pattern, or an entire game, even at prices already shown. */
export const blockPrice = (deps: ActDeps, target: PriceTarget) => hold(deps, target, { kind: 'blocked' })
/** Freezes the prices of these items. A frozen price does not age. */
export const freezePrice = (deps: ActDeps, target: PriceTarget) => hold(deps, target, { kind: 'frozen' })
/** Sets the operator's own price for these items, before commission. */
export const overridePrice = (deps: ActDeps, { usdMicros, ...target }: PriceTarget & { usdMicros: bigint }) =>
  hold(deps, target, { kind: 'override', usdMicros })

type NewHold = { kind: 'blocked' | 'frozen' } | { kind: 'override'; usdMicros: bigint }

const ACT_NAMES = { blocked: 'price block', frozen: 'price freeze', override: 'price override' }
const HELD = { blocked: 'blocked', frozen: 'frozen', override: 'at a price of yours' }
/** Limited because each pattern is compared with every name. */
const MOST_PATTERNS = 200
/** Shorter patterns match items by accident. */
const LEAST_PATTERN_CHARACTERS = 3
const MOST_NAME_CHARACTERS = 200
/** Ten million dollars. Prices of sources have the same limit. */
const TOO_DEAR_USD_MICROS = 10_000_000_000_000n

function hold(deps: ActDeps, { game, item }: PriceTarget, newHold: NewHold): Promise<Answer<PriceHoldView>> {
  const { kind } = newHold
  const usdMicros = newHold.kind === 'override' ? newHold.usdMicros : null
  const argumentsOf = () => ({ game, item, ...(usdMicros !== null && { usdMicros }) })
  const namedAct = { name: ACT_NAMES[kind], needsReason: kind === 'override', argumentsOf }
  return act(deps, namedAct, async (tx) => {
    const mistake = mistakeOf(item, usdMicros)
    if (mistake !== undefined) return refused('usage', mistake)
    const before = (await readPriceHolds(tx, game, item === null ? [] : [item])).find(
      ({ name }) => name === item,
    )
    // A second freeze keeps the time of the first, at which the prices were fresh. At a later time they would be too old.
    if (before?.kind === kind && before.usdMicros === usdMicros)
      return unchanged(viewOf(game, before), `${lineOf(game, before)}, as before`)
    const since = deps.clock.now()
    await savePriceHold(tx, { game, name: item, kind, usdMicros, since })
    // Counted afterwards, so the hold of a known pattern can be changed. A refusal rolls a new pattern back.
    if (isPattern(item) && (await countPatterns(tx, game)) > MOST_PATTERNS) {
      return refused('conflict', `There are ${MOST_PATTERNS} patterns of this game: release some.`)
    }
    const view = { game, item, hold: kind, usdMicros, since }
    const replaced = before === undefined || before.kind === kind ? '' : `, no longer ${HELD[before.kind]}`
    const line = `${lineOf(game, { name: item, kind, since })}${replaced}`
    if (item === null || (await isListed(tx, { game, name: item }))) return done(view, line)
    const warning = isPattern(item)
      ? 'No source lists a name that matches: check the spelling.'
      : 'No source lists this name: check its spelling.'
    return done(view, `${line}. ${warning}`)
  })
}

const lineOf = (game: Game, { name, kind, since }: Pick<PriceHold, 'name' | 'kind' | 'since'>): string =>
  `${game}\t${name ?? 'the whole game'}\t${kind} since ${since.toISOString()}`

function mistakeOf(item: string | null, usdMicros: bigint | null): string | undefined {
  if (item !== null && (item === '' || item.length > MOST_NAME_CHARACTERS)) {
    return `The name must have 1 to ${MOST_NAME_CHARACTERS} characters.`
  }
  if (item !== null && isPattern(item) && item.replaceAll('*', '').trim().length < LEAST_PATTERN_CHARACTERS) {
    return `A pattern must have at least ${LEAST_PATTERN_CHARACTERS} characters besides *. On the command line, --all means the whole game.`
  }
  if (usdMicros !== null && (usdMicros <= 0n || usdMicros >= TOO_DEAR_USD_MICROS))
    return 'The price must be above zero, and below ten million dollars.'
  return undefined
}

/** Ends the block, freeze or override of exactly this name, pattern or game. Others that cover its items stay. */
export function releasePrice(deps: ActDeps, { game, item }: PriceTarget): Promise<Answer<PriceTarget>> {
  return act(deps, { name: 'price release', argumentsOf: () => ({ game, item }) }, async (tx) => {
    if (!(await removePriceHold(tx, { game, name: item }))) {
      return refused(
        'conflict',
        'Nothing to release: there is no block, freeze or price of yours for exactly this name, pattern or game.',
      )
    }
    return done({ game, item }, `${game}\t${item ?? 'the whole game'}\treleased`)
  })
}

export type CoverageBand = Record<Verdict, number> & {
  /** Lower bound in dollars, by the sources' last prices. */
  fromUsd: number
  /** Some items that are not accepted, each with the reason. */
  examples: { item: string; verdict: Verdict }[]
}

export type Coverage = {
  game: Game
  items: number
  bands: CoverageBand[]
  /** The items whose sales of the last 30 days lost the most. */
  losses: LosingItem[]
}

const MOST_EXAMPLES = 5

/** Counts the items of a game by price and verdict. */
export async function priceCoverage(deps: FindDeps, game: Game): Promise<Answer<Coverage>> {
  const { db, clock, config } = deps
  const now = clock.now()
  const zeros = { accepted: 0, not_popular: 0, no_price: 0, in_dispute: 0, too_cheap: 0, blocked: 0 }
  const bands = BANDS_USD.map((fromUsd): CoverageBand => ({ fromUsd, ...zeros, examples: [] }))
  let items = 0
  for await (const judged of judgeItems(db, { game, rules: config.priceRules, now })) {
    const { item, prices, verdict } = judged
    const fromUsd = bandOf(prices)
    const band = bands.find((each) => each.fromUsd === fromUsd)
    if (band === undefined) continue
    items += 1
    band[verdict] += 1
    if (verdict !== 'accepted' && band.examples.length < MOST_EXAMPLES) band.examples.push({ item, verdict })
  }
  return done({ game, items, bands: bands.reverse(), losses: await losingItems(deps, game) })
}
