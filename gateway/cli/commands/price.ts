/** `price …`: prices of the sources, and the operator's blocks, freezes and overrides. */
import { buildRouteMap } from '@stricli/core'
import { GAMES, type Game } from '../../../contract/games.ts'
import { MICROS_PER_CENT } from '../../../contract/money.ts'
import type { PriceTarget } from '../../operations/prices.ts'
import { amountIn, STORE, text } from '../arguments.ts'
import {
  ACT,
  type ActFlags,
  command,
  FIND,
  type FindFlags,
  SERIOUS_ACT,
  type SeriousFlags,
} from '../command.ts'
import { coverageLines, priceLines, priceListLines } from '../price-lines.ts'
import type { Session } from '../session.ts'
import { Refusal } from '../terminal.ts'

const GAME = { kind: 'enum', values: GAMES, brief: 'the game' } as const
const ITEM = {
  kind: 'parsed',
  parse: text,
  brief: 'the market hash name of an item, or a pattern such as "* Doppler *"',
  placeholder: 'NAME',
} as const

const TARGET = {
  game: GAME,
  item: { ...ITEM, optional: true },
  all: { kind: 'boolean', brief: 'the whole game', optional: true, withNegated: false },
} as const

type TargetFlags = { game: Game; item?: string; all?: boolean }

/** Requires --all for an entire game, so a forgotten --item cannot mean the entire game. */
function targetOf({ game, item, all = false }: TargetFlags): PriceTarget {
  if ((item !== undefined) === all) {
    throw new Refusal('usage', 'Give either --item NAME, or --all for the whole game.')
  }
  return { game, item: item ?? null }
}

const show = command({
  does: 'show each source’s price of an item and its age, which of them count, and the shopper’s credit',
  example: "price show --game cs --item 'AK-47 | Redline (Field-Tested)'",
  parameters: {
    flags: {
      game: GAME,
      item: { ...ITEM, brief: 'the market hash name of an item' },
      store: { ...STORE, kind: 'parsed', brief: 'use the commission of this store', optional: true },
      ...FIND,
    },
  },
  load: async () => {
    const { showPrice } = await import('../../operations/prices.ts')
    return async (
      session: Session,
      { game, item, store: storeId }: FindFlags & { game: Game; item: string; store?: bigint },
    ) => showPrice(await session.findDeps(), { game, item, storeId })
  },
  lines: priceLines,
})

const block = command({
  does: 'stop accepting an item, all items that match a pattern, or a whole game',
  example: "price block --game cs --item 'M4A4 | Howl (Field-Tested)' --reason 'price is pushed'",
  parameters: { flags: { ...TARGET, ...ACT } },
  load: async () => {
    const { blockPrice } = await import('../../operations/prices.ts')
    return async (session: Session, flags: ActFlags & TargetFlags) => {
      const target = targetOf(flags)
      return blockPrice(await session.actDeps(flags), target)
    }
  },
})

const freeze = command({
  does: 'freeze the price of an item, of all items that match a pattern, or of a whole game',
  example: 'price freeze --game rust --all',
  parameters: { flags: { ...TARGET, ...ACT } },
  load: async () => {
    const { freezePrice } = await import('../../operations/prices.ts')
    return async (session: Session, flags: ActFlags & TargetFlags) => {
      const target = targetOf(flags)
      return freezePrice(await session.actDeps(flags), target)
    }
  },
})

const override = command({
  does: 'set your own price, before commission, for an item or all items that match a pattern',
  example:
    "price override --game cs --item '★ Karambit | Doppler *' --usd 850.00 --reason 'rubies sell for more'",
  parameters: {
    flags: {
      game: GAME,
      item: ITEM,
      usd: {
        kind: 'parsed',
        parse: text,
        brief: 'the price in US dollars, with its decimals, such as 850.00',
        placeholder: 'AMOUNT',
      },
      ...SERIOUS_ACT,
    },
  },
  load: async () => {
    const { overridePrice } = await import('../../operations/prices.ts')
    return async (session: Session, flags: SeriousFlags & { game: Game; item: string; usd: string }) => {
      const { game, item } = flags
      const usdMicros = amountIn('USD', flags.usd, '--usd') * MICROS_PER_CENT
      return overridePrice(await session.actDeps(flags), { game, item, usdMicros })
    }
  },
})

const coverage = command({
  does: 'show how many items of a game are accepted, by price, why others are not, and which sold at a loss',
  example: 'price coverage --game cs',
  parameters: { flags: { game: GAME, ...FIND } },
  load: async () => {
    const { priceCoverage } = await import('../../operations/prices.ts')
    return async (session: Session, { game }: FindFlags & { game: Game }) =>
      priceCoverage(await session.findDeps(), game)
  },
  lines: coverageLines,
})

const release = command({
  does: 'end the block, freeze or override of exactly this name, pattern or game; others that cover it stay',
  example: 'price release --game rust --all',
  parameters: { flags: { ...TARGET, ...ACT } },
  load: async () => {
    const { releasePrice } = await import('../../operations/prices.ts')
    return async (session: Session, flags: ActFlags & TargetFlags) => {
      const target = targetOf(flags)
      return releasePrice(await session.actDeps(flags), target)
    }
  },
})

const list = command({
  does: 'show the state of the sources, and all blocks, freezes and overrides',
  example: 'price list',
  parameters: { flags: FIND },
  load: async () => {
    const { listPrices } = await import('../../operations/prices.ts')
    return async (session: Session, _flags: FindFlags) => listPrices(await session.findDeps())
  },
  lines: priceListLines,
})

export const price = buildRouteMap({
  routes: { show, block, freeze, override, release, list, coverage },
  aliases: { why: 'show' },
  docs: { brief: 'the prices of items' },
})
