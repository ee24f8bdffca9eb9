/** `price …`: what the sources say, and what the operator takes out of their hands. */
import { parseArgs } from 'node:util'
import { GAMES, type Game } from '../../contract/games.ts'
import { listFeeds } from '../pricing/feeds.ts'
import { freshOf } from '../pricing/price.ts'
import { priceList } from '../pricing/service.ts'
import { type Hold, holdPrices, readHolds, readPrices, releasePrices } from '../pricing/store.ts'
import type { Context, Run } from './commands.ts'
import { Refusal } from './terminal.ts'

/** `price show`: of one item what each source says, and what a shopper is paid. */
export async function showPrice({ config, db, clock, terminal }: Context, args: string[]): Promise<void> {
  const { game, item } = readArgs(args)
  if (item === null) throw new Refusal('--item takes the market hash name of an item')
  const now = clock.now()
  const rules = config.priceRules
  const said = (await readPrices(db, game, [item])).get(item) ?? []
  const fresh = new Set(freshOf(said, rules[game], now))
  for (const price of said) {
    const level = price.levelUsdMicros === null ? 'no level yet' : `level ${dollars(price.levelUsdMicros)}`
    const state = fresh.has(price) ? '' : ', too old'
    const popularity = `${price.popularity} ${price.popularityKind === 'listings' ? 'on sale' : 'sold in 7 days'}`
    terminal.print(
      `${price.source}\t${dollars(price.usdMicros)}\t${level}\t${popularity}\t${price.asOf.toISOString()}${state}`,
    )
  }
  for (const hold of await readHolds(db, game, [item])) terminal.print(holdLine(game, hold))
  const list = await priceList(db, { game, currency: 'USD', names: [item], rules, now })
  if ('refused' in list) throw new Refusal('There is no rate of the dollar: is a gateway running?')
  const price = list.of(item)
  const [grounds] = list.grounds()
  if (price.kind === 'unavailable') terminal.print(`not taken: ${price.reason}`)
  else
    terminal.print(
      `worth ${dollars(grounds?.usdMicros ?? 0n)}, a shopper is credited ${dollars(price.price * 10_000n)}`,
    )
}

/** `price block`, `price freeze`: of one item, or of a whole game. */
export function holdPrice(kind: Hold['kind']): Run {
  return async ({ db, clock, terminal }, args) => {
    const { game, item: name } = readArgs(args, { needsAll: true })
    const hold = { name, kind, since: clock.now() }
    await holdPrices(db, { ...hold, game })
    terminal.print(holdLine(game, hold))
  }
}

/** `price release`: the sources are listened to again. */
export async function releasePrice({ db, terminal }: Context, args: string[]): Promise<void> {
  const { game, item: name } = readArgs(args, { needsAll: true })
  if (!(await releasePrices(db, { game, name }))) throw new Refusal('That was neither blocked nor frozen.')
  terminal.print(`${game}\t${name ?? 'the whole game'}\treleased`)
}

/** `price list`: the sources and how they do, and everything that is held. */
export async function listPrices({ db, terminal }: Context): Promise<void> {
  for (const feed of await listFeeds(db)) {
    const good = feed.goodAt === null ? 'never answered' : `answered ${feed.goodAt.toISOString()}`
    const failing = feed.failures === 0 ? '' : `\tfailed ${feed.failures} times: ${feed.lastError}`
    terminal.print(`${feed.source}\t${feed.feed}\t${good}${failing}`)
  }
  for (const game of GAMES) {
    for (const hold of await readHolds(db, game)) terminal.print(holdLine(game, hold))
  }
}

const holdLine = (game: Game, { name, kind, since }: Hold): string =>
  `${game}\t${name ?? 'the whole game'}\t${kind} since ${since.toISOString()}`

/** A whole game is only meant where it is said in as many words. */
function readArgs(args: string[], { needsAll = false } = {}): { game: Game; item: string | null } {
  const { values } = parseArgs({
    args,
    options: {
      game: { type: 'string', default: '' },
      item: { type: 'string' },
      all: { type: 'boolean', default: false },
    },
  })
  const game = GAMES.find((name) => name === values.game)
  if (game === undefined) throw new Refusal(`--game takes one of ${GAMES.join(', ')}`)
  if (needsAll && (values.item !== undefined) === values.all) {
    throw new Refusal('Give either --item NAME, or --all for the whole game.')
  }
  return { game, item: values.item ?? null }
}

/** Millionths → dollars as text, rounded down to cents. */
function dollars(micros: bigint): string {
  const cents = micros / 10_000n
  return `${cents / 100n}.${String(cents % 100n).padStart(2, '0')} USD`
}
