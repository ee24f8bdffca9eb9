/** `items …`: items that the bots have, and items that left them. */
import { buildRouteMap } from '@stricli/core'
import type { ItemState } from '../../departures/item.ts'
import { ITEM_STATES } from '../../operations/item-states.ts'
import { id, limitUpTo, pageBefore, text } from '../arguments.ts'
import {
  ACT,
  type ActFlags,
  command,
  FIND,
  type FindFlags,
  OF_BOT,
  SERIOUS_ACT,
  type SeriousFlags,
} from '../command.ts'
import { driftLines } from '../drift-lines.ts'
import {
  departureLines,
  itemHistoryLines,
  itemLines,
  itemPageLines,
  movedLines,
  unmovedLines,
} from '../lines.ts'
import { soldLines } from '../sale-lines.ts'
import type { Session } from '../session.ts'
import { giveBack, rule, send, unwish, wishes } from './wishes.ts'

const exportCsv = command({
  does: 'print the items that the bots hold, as CSV',
  example: 'items export > items.csv',
  parameters: { flags: FIND },
  load: async () => {
    const { exportItems } = await import('../../operations/items.ts')
    return async (session: Session, _flags: FindFlags) => exportItems(await session.findDeps())
  },
  lines: itemLines,
})

const moved = command({
  does: 'record that items left their bots without a Steam trade: lines of the export on stdin',
  example: "items moved --reason 'sold on the market' < moved.csv",
  parameters: { flags: SERIOUS_ACT },
  load: async () => {
    const { recordMoved } = await import('../../operations/items.ts')
    return async (session: Session, flags: SeriousFlags) =>
      recordMoved(await session.actDeps(flags), firstColumn(session.terminal.lines()))
  },
  lines: movedLines,
})

const unmoved = command({
  does: 'take back records of `items moved`: the same lines on stdin; the bots have the items after all',
  example: "items unmoved --reason 'wrong file' < moved.csv",
  parameters: { flags: SERIOUS_ACT },
  load: async () => {
    const { recordUnmoved } = await import('../../operations/items.ts')
    return async (session: Session, flags: SeriousFlags) =>
      recordUnmoved(await session.actDeps(flags), firstColumn(session.terminal.lines()))
  },
  lines: unmovedLines,
})

const sold = command({
  does: 'record sales that the vault did not make: lines of item,market,reference,price,received,currency,soldAt on stdin',
  example: "items sold --reason 'sales of November' < sold.csv",
  parameters: { flags: SERIOUS_ACT },
  load: async () => {
    const { recordSold } = await import('../../operations/sales.ts')
    return async (session: Session, flags: SeriousFlags) =>
      recordSold(await session.actDeps(flags), session.terminal.lines())
  },
  lines: soldLines,
})

/** Returns the first column of the export's lines, without its header and blank lines. */
async function* firstColumn(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) {
    const [item = ''] = line.split(',')
    if (item !== 'item' && line !== '') yield item
  }
}

const MOST_LISTED = 1_000

type ListFlags = FindFlags & { bot?: string; state?: ItemState; before?: bigint; limit: number }

const list = command({
  does: 'list the items that came to the bots, newest first: their deposit, cost and whereabouts',
  example: 'items list --bot 1 --state held',
  parameters: {
    flags: {
      bot: {
        kind: 'parsed',
        parse: text,
        brief: 'only items that this bot has, or had last: its number or Steam id',
        placeholder: 'BOT',
        optional: true,
      },
      state: { kind: 'enum', values: ITEM_STATES, brief: 'only items in this state', optional: true },
      before: pageBefore('PLACE'),
      limit: limitUpTo(MOST_LISTED),
      ...FIND,
    },
  },
  load: async () => {
    const { listItems } = await import('../../operations/items.ts')
    return async (session: Session, { bot, state, before, limit }: ListFlags) =>
      listItems(await session.findDeps(), { bot, state, before, limit })
  },
  lines: itemPageLines,
})

const show = command({
  does: 'show the life of an item: its deposit, cost, and every change of custody',
  example: 'items show 38112345678',
  parameters: {
    flags: FIND,
    positional: {
      kind: 'tuple',
      parameters: [
        {
          parse: text,
          brief: 'its asset id at the bot or the shopper, or its number in the lists',
          placeholder: 'ASSET',
        },
      ],
    },
  },
  load: async () => {
    const { showItem } = await import('../../operations/items.ts')
    return async (session: Session, _flags: FindFlags, asset: string) =>
      showItem(await session.findDeps(), asset)
  },
  lines: itemHistoryLines,
})

const MOST_DEPARTURES = 500

type DepartureFlags = FindFlags & { bot?: string; unexplained?: boolean; before?: bigint; limit: number }

const departures = command({
  does: 'list items that left the bots by Steam trades, newest first, and where they went',
  example: 'items departures --unexplained',
  parameters: {
    flags: {
      bot: OF_BOT,
      unexplained: {
        kind: 'boolean',
        brief: 'only departures without an explanation',
        optional: true,
        withNegated: false,
      },
      before: pageBefore('DEPARTURE'),
      limit: limitUpTo(MOST_DEPARTURES),
      ...FIND,
    },
  },
  load: async () => {
    const { listDepartures } = await import('../../operations/departures.ts')
    return async (session: Session, { bot, unexplained, before, limit }: DepartureFlags) =>
      listDepartures(await session.findDeps(), { bot, unexplained, before, limit })
  },
  lines: departureLines,
})

const explain = command({
  does: 'explain a departure, which ends the alarm about it',
  example: "items explain 12 --reason 'I sent them to the new storage account myself'",
  parameters: {
    flags: SERIOUS_ACT,
    positional: {
      kind: 'tuple',
      parameters: [{ parse: id, brief: 'the number of the departure', placeholder: 'DEPARTURE' }],
    },
  },
  load: async () => {
    const { explainDeparture } = await import('../../operations/departures.ts')
    return async (session: Session, flags: SeriousFlags, departureId: bigint) =>
      explainDeparture(await session.actDeps(flags), departureId)
  },
})

type DriftFlags = ActFlags & { bot?: string; now?: boolean }

const drift = command({
  does: 'show where the bots’ inventories differed from the books at the last check',
  example: 'items drift --bot 1 --now',
  parameters: {
    flags: {
      bot: {
        kind: 'parsed',
        parse: text,
        brief: 'only this bot: its number, Steam id or name',
        placeholder: 'BOT',
        optional: true,
      },
      now: {
        kind: 'boolean',
        brief: 'check the inventories now; ask again in a minute for the result',
        optional: true,
        withNegated: false,
      },
      ...ACT,
    },
  },
  load: async () => {
    const { listDrift, lookForDrift } = await import('../../operations/drift.ts')
    return async (session: Session, { bot, now = false, ...flags }: DriftFlags) =>
      now ? lookForDrift(await session.actDeps(flags), bot) : listDrift(await session.findDeps(), bot)
  },
  lines: driftLines,
})

export const items = buildRouteMap({
  routes: {
    list,
    show,
    export: exportCsv,
    send,
    return: giveBack,
    wishes,
    unwish,
    rule,
    moved,
    unmoved,
    sold,
    departures,
    explain,
    drift,
  },
  docs: { brief: 'the items that the bots have, and those that left' },
})
