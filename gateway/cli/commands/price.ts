/** `price …`: what the sources say, and what the operator takes out of their hands. */
import { buildRouteMap } from '@stricli/core'
import { GAMES, type Game } from '../../../contract/games.ts'
import type { Target } from '../../operations/prices.ts'
import { text } from '../arguments.ts'
import { ACT, type ActFlags, command, FIND, type FindFlags } from '../command.ts'
import { priceLines, priceListLines } from '../lines.ts'
import type { Session } from '../session.ts'
import { Refusal } from '../terminal.ts'

const GAME = { kind: 'enum', values: GAMES, brief: 'the game' } as const
const ITEM = {
  kind: 'parsed',
  parse: text,
  brief: 'the market hash name of an item',
  placeholder: 'NAME',
} as const

const TARGET = {
  game: GAME,
  item: { ...ITEM, optional: true },
  all: { kind: 'boolean', brief: 'the whole game', optional: true, withNegated: false },
} as const

type TargetFlags = { game: Game; item?: string; all?: boolean }

/** A whole game is only meant where it is said in as many words. */
function targetOf({ game, item, all = false }: TargetFlags): Target {
  if ((item !== undefined) === all) {
    throw new Refusal('usage', 'Give either --item NAME, or --all for the whole game.')
  }
  return { game, item: item ?? null }
}

const show = command({
  does: 'show what each source says of an item, and what a shopper is credited',
  example: "price show --game cs --item 'AK-47 | Redline (Field-Tested)'",
  parameters: { flags: { game: GAME, item: ITEM, ...FIND } },
  load: async () => {
    const { showPrice } = await import('../../operations/prices.ts')
    return async (session: Session, { game, item }: FindFlags & { game: Game; item: string }) =>
      showPrice(await session.find(), { game, item })
  },
  lines: priceLines,
})

const block = command({
  does: 'take no such item from now on',
  example: "price block --game cs --item 'M4A4 | Howl (Field-Tested)' --reason 'price is pushed'",
  parameters: { flags: { ...TARGET, ...ACT } },
  load: async () => {
    const { blockPrice } = await import('../../operations/prices.ts')
    return async (session: Session, flags: ActFlags & TargetFlags) => {
      const target = targetOf(flags)
      return blockPrice(await session.act(flags), target)
    }
  },
})

const freeze = command({
  does: 'keep the price of an item as it is',
  example: 'price freeze --game rust --all',
  parameters: { flags: { ...TARGET, ...ACT } },
  load: async () => {
    const { freezePrice } = await import('../../operations/prices.ts')
    return async (session: Session, flags: ActFlags & TargetFlags) => {
      const target = targetOf(flags)
      return freezePrice(await session.act(flags), target)
    }
  },
})

const release = command({
  does: 'listen to the sources again',
  example: 'price release --game rust --all',
  parameters: { flags: { ...TARGET, ...ACT } },
  load: async () => {
    const { releasePrice } = await import('../../operations/prices.ts')
    return async (session: Session, flags: ActFlags & TargetFlags) => {
      const target = targetOf(flags)
      return releasePrice(await session.act(flags), target)
    }
  },
})

const list = command({
  does: 'show the sources and how they do, and what is blocked or frozen',
  example: 'price list',
  parameters: { flags: FIND },
  load: async () => {
    const { listPrices } = await import('../../operations/prices.ts')
    return async (session: Session, _flags: FindFlags) => listPrices(await session.find())
  },
  lines: priceListLines,
})

export const price = buildRouteMap({
  routes: { show, block, freeze, release, list },
  docs: { brief: 'what items are worth' },
})
