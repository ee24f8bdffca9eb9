import { wearStart } from '../../contract/item-name.ts'
import type { Item } from '../../contract/widget-api.ts'

export type ShownName = {
  /** The part before the first “|”, such as the weapon of a skin; null if the name has one part. */
  thing: string | null
  name: string
}

const STATTRAK = /StatTrak™\s+/
const BETWEEN = ' | '

/** Removes the wear and StatTrak, which the card's marks already show, unless nothing would be left of the name. */
export function shownName({ name, wearCategory, isStatTrak }: NamedItem): ShownName {
  const unmarked = isStatTrak ? name.replace(STATTRAK, '') : name
  const plain = withoutWear({ name: unmarked, wearCategory })
  const separatorAt = plain.indexOf(BETWEEN)
  const [thing, rest] = [
    plain.slice(0, Math.max(separatorAt, 0)).trim(),
    plain.slice(separatorAt + BETWEEN.length).trim(),
  ]
  if (separatorAt < 0 || thing === '' || rest === '')
    return { thing: null, name: plain.trim() === '' ? name : plain }
  return { thing, name: rest }
}

type NamedItem = Pick<Item, 'name' | 'wearCategory' | 'isStatTrak'>

export function withoutWear({ name, wearCategory }: Pick<Item, 'name' | 'wearCategory'>): string {
  return wearCategory === null ? name : name.slice(0, wearStart(name))
}
