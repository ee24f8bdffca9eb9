/** `items send` and its like: what the operator wishes the vault to give. */
import { id, text, wholeUpTo } from '../arguments.ts'
import { ACT, type ActFlags, command, FIND, type FindFlags, GRAVE_ACT, type GraveFlags } from '../command.ts'
import type { Session } from '../session.ts'
import { Refusal } from '../terminal.ts'
import { ruleLines, wishLines } from '../wish-lines.ts'

const BOT = {
  kind: 'parsed',
  parse: text,
  brief: 'only what this bot holds: its number, or its Steam id',
  placeholder: 'BOT',
  optional: true,
} as const

const TO = {
  kind: 'parsed',
  parse: text,
  brief: 'a destination, by its name in the list of the vault',
  placeholder: 'NAME',
} as const

const MOST_NAMED = 500

function assetIds(typed: string): string[] {
  const ids = typed.split(',').map((each) => each.trim())
  if (ids.length > MOST_NAMED || ids.some((each) => !/^\d{1,20}$/.test(each))) {
    throw new Error(`must be up to ${MOST_NAMED} asset ids of bots, with commas`)
  }
  return ids
}

type SendFlags = ActFlags & { to: string; bot?: string; item?: string[]; allFree?: boolean }

export const send = command({
  does: 'wish that the vault sends free items to a destination of its list',
  example: 'items send --to storage --all-free',
  parameters: {
    flags: {
      to: TO,
      bot: BOT,
      item: {
        kind: 'parsed',
        parse: assetIds,
        brief: 'these, by what their bots call them, with commas',
        placeholder: 'ASSETS',
        optional: true,
      },
      allFree: { kind: 'boolean', brief: 'all that are free', optional: true, withNegated: false },
      ...ACT,
    },
  },
  load: async () => {
    const { sendItems } = await import('../../operations/wishes.ts')
    return async (session: Session, { to, bot, item, allFree, ...flags }: SendFlags) => {
      if ((item === undefined) !== (allFree === true)) {
        throw new Refusal('usage', 'Say either --item or --all-free.')
      }
      return sendItems(await session.act(flags), { to, bot, assets: item })
    }
  },
})

export const giveBack = command({
  does: 'wish that the vault gives the items of a deposit back to whom they came from',
  example: "items return 17 --reason 'paid twice by mistake'",
  parameters: {
    flags: GRAVE_ACT,
    positional: {
      kind: 'tuple',
      parameters: [{ parse: id, brief: 'the number of the deposit', placeholder: 'DEPOSIT' }],
    },
  },
  load: async () => {
    const { returnItems } = await import('../../operations/wishes.ts')
    return async (session: Session, flags: GraveFlags, depositId: bigint) =>
      returnItems(await session.act(flags), depositId)
  },
})

const MOST_WISHES = 200

type WishFlags = FindFlags & { open?: boolean; before?: bigint; limit: number }

export const wishes = command({
  does: 'show what the vault was asked to give, newest first, and what it says of it',
  example: 'items wishes --open',
  parameters: {
    flags: {
      open: { kind: 'boolean', brief: 'only those that are not over', optional: true, withNegated: false },
      before: {
        kind: 'parsed',
        parse: id,
        brief: 'only wishes with a smaller number',
        placeholder: 'WISH',
        optional: true,
      },
      limit: {
        kind: 'parsed',
        parse: wholeUpTo(MOST_WISHES),
        brief: `how many, ${MOST_WISHES} at most`,
        placeholder: 'NUMBER',
        default: '20',
      },
      ...FIND,
    },
  },
  load: async () => {
    const { listWishes } = await import('../../operations/wishes.ts')
    return async (session: Session, { open, before, limit }: WishFlags) =>
      listWishes(await session.find(), { open, before, limit })
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
      withdraw(await session.act(flags), wishId)
  },
})

const MOST_KEPT = 100_000

type RuleFlags = ActFlags & { to?: string; keep?: number; off?: boolean }

export const rule = command({
  does: 'send what a bot holds beyond so many free items, from now on',
  example: 'items rule --keep 500 --to storage',
  parameters: {
    flags: {
      keep: {
        kind: 'parsed',
        parse: wholeUpTo(MOST_KEPT),
        brief: 'how many free items a bot keeps',
        placeholder: 'NUMBER',
        optional: true,
      },
      to: { ...TO, optional: true },
      off: { kind: 'boolean', brief: 'bots keep their items', optional: true, withNegated: false },
      ...ACT,
    },
  },
  load: async () => {
    const { changeSendRule } = await import('../../operations/wishes.ts')
    return async (session: Session, { keep, to, off, ...flags }: RuleFlags) => {
      const isSet = keep !== undefined && to !== undefined
      if (isSet === (off === true)) throw new Refusal('usage', 'Say either --keep and --to, or --off.')
      return changeSendRule(await session.act(flags), isSet ? { destination: to, keep } : undefined)
    }
  },
  lines: ruleLines,
})
