/** Prices: what the sources say, and what the operator takes out of their hands. */
import { GAMES, type Game } from '../../contract/games.ts'
import { listFeeds } from '../pricing/feed-store.ts'
import { freshOf, type SourcePrice } from '../pricing/price.ts'
import { priceList } from '../pricing/service.ts'
import { type Hold, holdPrices, readHolds, readPrices, releasePrices } from '../pricing/store.ts'
import { act } from './act.ts'
import { type ActDeps, type Answer, done, type FindDeps, refused } from './operation.ts'

export type PricedItem = { game: Game; item: string }

/** An item, or with null the whole game. */
export type Target = { game: Game; item: string | null }

export type HoldView = Target & { hold: Hold['kind']; since: Date }

export type PriceView = PricedItem & {
  /** What each source says; a source that is not fresh does not count. */
  sources: (SourcePrice & { fresh: boolean })[]
  holds: HoldView[]
  /** What the item is worth and what a shopper is credited for it; null where it is not taken. */
  worthUsdMicros: bigint | null
  credit: { amountMinor: bigint; currency: 'USD' } | null
  /** Why it is not taken. */
  unavailable: string | null
}

/** What each source says of an item, and what a shopper is credited. */
export async function showPrice(deps: FindDeps, { game, item }: PricedItem): Promise<Answer<PriceView>> {
  const { config, db, clock } = deps
  const now = clock.now()
  const rules = config.priceRules
  const said = (await readPrices(db, game, [item])).get(item) ?? []
  const fresh = new Set(freshOf(said, rules[game], now))
  const view: PriceView = {
    game,
    item,
    sources: said.map((each) => ({ ...each, fresh: fresh.has(each) })),
    holds: (await readHolds(db, game, [item])).map((hold) => viewOf(game, hold)),
    worthUsdMicros: null,
    credit: null,
    unavailable: null,
  }
  const list = await priceList(db, { game, currency: 'USD', names: [item], rules, now })
  if ('refused' in list) {
    const message = 'There is no exchange rate of the dollar: is a gateway running?'
    return { kind: 'refused', refusal: 'unavailable', message, data: view }
  }
  const price = list.of(item)
  const [grounds] = list.grounds()
  if (price.kind === 'unavailable') return done({ ...view, unavailable: price.reason })
  const credit = { amountMinor: price.price, currency: 'USD' } as const
  return done({ ...view, worthUsdMicros: grounds?.usdMicros ?? 0n, credit })
}

const viewOf = (game: Game, { name, kind, since }: Hold): HoldView => ({
  game,
  item: name,
  hold: kind,
  since,
})

export type PriceList = { feeds: Awaited<ReturnType<typeof listFeeds>>; holds: HoldView[] }

/** How each source does, and all that is blocked or frozen. */
export async function listPrices({ db }: FindDeps): Promise<Answer<PriceList>> {
  const holds: HoldView[] = []
  for (const game of GAMES) {
    holds.push(...(await readHolds(db, game)).map((hold) => viewOf(game, hold)))
  }
  return done({ feeds: await listFeeds(db), holds })
}

/** Takes no such item from now on, not even at prices shown before. */
export const blockPrice = (deps: ActDeps, target: Target) => hold(deps, target, 'blocked')

/** Keeps the price of an item as it is, and stops its ageing. */
export const freezePrice = (deps: ActDeps, target: Target) => hold(deps, target, 'frozen')

function hold(deps: ActDeps, { game, item }: Target, kind: Hold['kind']): Promise<Answer<HoldView>> {
  const name = kind === 'blocked' ? 'price block' : 'price freeze'
  return act(deps, { name, recorded: () => ({ game, item }) }, async (tx) => {
    const since = deps.clock.now()
    await holdPrices(tx, { game, name: item, kind, since })
    const view = { game, item, hold: kind, since }
    return done(view, `${game}\t${item ?? 'the whole game'}\t${kind} since ${since.toISOString()}`)
  })
}

/** Listens to the sources again. */
export function releasePrice(deps: ActDeps, { game, item }: Target): Promise<Answer<Target>> {
  return act(deps, { name: 'price release', recorded: () => ({ game, item }) }, async (tx) => {
    if (!(await releasePrices(tx, { game, name: item }))) {
      return refused('conflict', 'It was neither blocked nor frozen.')
    }
    return done({ game, item }, `${game}\t${item ?? 'the whole game'}\treleased`)
  })
}
