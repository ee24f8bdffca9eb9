/** `items …`: what the bots hold, and what the operator took out of their hands. */
import { buildRouteMap } from '@stricli/core'
import { command, FIND, type FindFlags, GRAVE_ACT, type GraveFlags } from '../command.ts'
import { itemLines, movedLines } from '../lines.ts'
import type { Session } from '../session.ts'

const list = command({
  does: 'show what the bots hold, as CSV',
  example: 'items export > items.csv',
  parameters: { flags: FIND },
  load: async () => {
    const { exportItems } = await import('../../operations/items.ts')
    return async (session: Session, _flags: FindFlags) => exportItems(await session.find())
  },
  lines: itemLines,
})

const moved = command({
  does: 'record that items left their bots: lines of the export on stdin',
  example: "items moved --reason 'sold on the market' < moved.csv",
  parameters: { flags: GRAVE_ACT },
  load: async () => {
    const { recordMoved } = await import('../../operations/items.ts')
    return async (session: Session, flags: GraveFlags) =>
      recordMoved(await session.act(flags), firstColumn(session.terminal.lines()))
  },
  lines: movedLines,
})

/** Of lines of the export, its head left out. */
async function* firstColumn(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) {
    const [item = ''] = line.split(',')
    if (item !== 'item') yield item
  }
}

export const items = buildRouteMap({
  routes: { export: list, moved },
  docs: { brief: 'the items in the hands of bots' },
})
