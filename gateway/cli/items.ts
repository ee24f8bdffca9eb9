/** `items …`: what the bots hold, and what the operator took out of their hands. */
import { type HeldItem, heldItems, type MoveAnswer, moveItem } from '../bots/items.ts'
import type { Context } from './commands.ts'
import { Refusal } from './terminal.ts'

const COLUMNS: readonly (keyof HeldItem)[] = [
  'item',
  'bot',
  'botSteamId',
  'appId',
  'assetId',
  'marketHashName',
  'price',
  'currency',
  'receivedAt',
  'protectedUntil',
]

/** `items export`: every item that a bot holds, as CSV with a head. */
export async function exportItems({ db, terminal }: Context): Promise<void> {
  terminal.print(COLUMNS.join(','))
  for (const item of await heldItems(db)) {
    terminal.print(COLUMNS.map((column) => cell(item[column])).join(','))
  }
}

function cell(value: HeldItem[keyof HeldItem]): string {
  const text = value instanceof Date ? value.toISOString() : String(value ?? '')
  // Names are hostile: one that a spreadsheet would take for a formula is made plain text.
  const plain = /^[=+\-@\t]/.test(text) ? `'${text}` : text
  return /[",\n\r]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}

const WHY: Record<Extract<MoveAnswer, { kind: 'refused' }>['reason'], string> = {
  not_an_item: 'is not an item of the export',
  not_held: 'is not in the hands of a bot (any more)',
  protected: 'is still under Steam’s protection: it cannot have left',
}

/** `items moved`: lines of the export (or their first column) on stdin; records that these items left their bots. */
export async function recordMoved({ db, clock, terminal }: Context): Promise<void> {
  let moved = 0
  let failed = 0
  for await (const line of terminal.lines()) {
    const [item = ''] = line.split(',')
    if (item === 'item') continue
    const answer = await moveItem({ db, clock }, item)
    if (answer.kind === 'moved') {
      moved += 1
      continue
    }
    failed += 1
    terminal.warn(`${item.slice(0, 50)} ${WHY[answer.reason]}`)
  }
  terminal.print(`${moved} recorded as moved`)
  if (failed > 0) throw new Refusal(`${failed} not recorded.`)
}
