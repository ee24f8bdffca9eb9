/** `items send`, `items return` and the other commands for wishes to the vault. */
import { MOST_KEPT_ITEMS } from '../../../contract/limits.ts'
import { id, limitUpTo, pageBefore, text, wholeUpTo } from '../arguments.ts'
import {
  ACT,
  type ActFlags,
  command,
  FIND,
  type FindFlags,
  SERIOUS_ACT,
  type SeriousFlags,
} from '../command.ts'
import type { Session } from '../session.ts'
import { Refusal } from '../terminal.ts'
import { ruleLines, wishLines } from '../wish-lines.ts'

const BOT = {
  kind: 'parsed',
  parse: text,
  brief: 'only items that this bot holds: its number or Steam id',
  placeholder: 'BOT',
  optional: true,
} as const

const TO = {
  kind: 'parsed',
  parse: text,
  brief: 'name of a destination on the vault’s list',
  placeholder: 'NAME',
} as const

const MOST_ASSETS = 500

function assetIds(typed: string): string[] {
  const ids = typed.split(',').map((each) => each.trim())
  if (ids.length > MOST_ASSETS || ids.some((each) => !/^\d{1,20}$/.test(each))) {
    throw new Error(`must be at most ${MOST_ASSETS} asset ids of items that bots have, separated by commas`)
  }
  return ids
}

type SendFlags = ActFlags & { to: string; bot?: string; item?: string[]; allFree?: boolean }

export const send = command({
  does: 'ask the vault to send free items to a destination on its list',
  example: 'items send --to storage --all-free',
  parameters: {
    flags: {
      to: TO,
      bot: BOT,
      item: {
        kind: 'parsed',
        parse: assetIds,
        brief: 'asset ids of items that bots have, separated by commas',
        placeholder: 'ASSETS',
        optional: true,
      },
      allFree: { kind: 'boolean', brief: 'all free items', optional: true, withNegated: false },
      ...ACT,
    },
  },
  load: async () => {
    const { sendItems } = await import('../../operations/wishes.ts')
    return async (session: Session, { to, bot, item, allFree, ...flags }: SendFlags) => {
      if ((item === undefined) !== (allFree === true)) {
        throw new Refusal('usage', 'Give either --item or --all-free.')
      }
      return sendItems(await session.actDeps(flags), { to, bot, assets: item })
    }
  },
})

export const giveBack = command({
  does: 'ask the vault to send the items of a deposit back to their shopper',
  example: "items return 17 --reason 'paid twice by mistake'",
  parameters: {
    flags: SERIOUS_ACT,
    positional: {
      kind: 'tuple',
      parameters: [{ parse: id, brief: 'the number of the deposit', placeholder: 'DEPOSIT' }],
    },
  },
  load: async () => {
    const { returnItems } = await import('../../operations/wishes.ts')
    return async (session: Session, flags: SeriousFlags, depositId: bigint) =>
      returnItems(await session.actDeps(flags), depositId)
  },
})

const MOST_WISHES = 200

type WishFlags = FindFlags & { open?: boolean; before?: bigint; limit: number }

export const wishes = command({
  does: 'list the wishes to the vault, newest first, with its answers',
  example: 'items wishes --open',
  parameters: {
    flags: {
      open: { kind: 'boolean', brief: 'only wishes that are not over', optional: true, withNegated: false },
      before: pageBefore('WISH'),
      limit: { ...limitUpTo(MOST_WISHES), default: '20' },
      ...FIND,
    },
  },
  load: async () => {
    const { listWishes } = await import('../../operations/wishes.ts')
    return async (session: Session, { open, before, limit }: WishFlags) =>
      listWishes(await session.findDeps(), { open, before, limit })
  },
  lines: wishLines,
})

export const unwish = command({
  does: 'withdraw a wish that the vault has not taken up',
  example: 'items unwish 4',
  parameters: {
    flags: ACT,
    positional: {
      kind: 'tuple',
      parameters: [{ parse: id, brief: 'the number of the wish', placeholder: 'WISH' }],
    },
  },
  load: async () => {
    const { withdraw } = await import('../../operations/wishes.ts')
    return async (session: Session, flags: ActFlags, wishId: bigint) =>
      withdraw(await session.actDeps(flags), wishId)
  },
})

type RuleFlags = ActFlags & { to?: string; keep?: number; off?: boolean }

export const rule = command({
  does: 'send free items automatically while a bot has more than a given number',
  example: 'items rule --keep 500 --to storage',
  parameters: {
    flags: {
      keep: {
        kind: 'parsed',
        parse: wholeUpTo(MOST_KEPT_ITEMS),
        brief: 'how many free items a bot keeps',
        placeholder: 'NUMBER',
        optional: true,
      },
      to: { ...TO, optional: true },
      off: { kind: 'boolean', brief: 'stop sending items automatically', optional: true, withNegated: false },
      ...ACT,
    },
  },
  load: async () => {
    const { changeSendRule } = await import('../../operations/wishes.ts')
    return async (session: Session, { keep, to, off, ...flags }: RuleFlags) => {
      const isSet = keep !== undefined && to !== undefined
      if (isSet === (off === true)) throw new Refusal('usage', 'Give either --keep and --to, or --off.')
      return changeSendRule(await session.actDeps(flags), isSet ? { destination: to, keep } : undefined)
    }
  },
  lines: ruleLines,
})
