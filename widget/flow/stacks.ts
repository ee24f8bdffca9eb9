/** Equal items share a card. Pure. */
import type { Item } from '../../contract/widget-api.ts'

export type Stacks = {
  /** The item that each card shows: the first of its stack. Ordered as in the inventory. */
  fronts: readonly Item[]
  /** The asset ids of a stack by the id of its first item. */
  members: ReadonlyMap<string, readonly string[]>
}

const builtStacks = new WeakMap<readonly Item[], Stacks>()

/** Stacks items that look the same. The result is kept, because an inventory may have thousands of items. */
export function stacksOf(items: readonly Item[]): Stacks {
  let stacks = builtStacks.get(items)
  if (stacks === undefined) {
    stacks = buildStacks(items)
    builtStacks.set(items, stacks)
  }
  return stacks
}

function buildStacks(items: readonly Item[]): Stacks {
  const fronts: Item[] = []
  const members = new Map<string, string[]>()
  const byAppearance = new Map<string, string[]>()
  for (const item of items) {
    const { name, price, iconUrl, rarityName, phase } = item
    const appearance = [name, price, iconUrl, rarityName, phase].join('\n')
    const ids = byAppearance.get(appearance)
    if (ids !== undefined) {
      ids.push(item.id)
      continue
    }
    const stack = [item.id]
    byAppearance.set(appearance, stack)
    members.set(item.id, stack)
    fronts.push(item)
  }
  return { fronts, members }
}

/** The picked items, equal ones together, in the order of picking. */
export function pickedStacks(items: readonly Item[]): { item: Item; ids: readonly string[] }[] {
  const { fronts, members } = buildStacks(items)
  return fronts.map((item) => ({ item, ids: members.get(item.id) ?? [item.id] }))
}

/** `more` picks one item, `fewer` puts one back, and `toggle` puts one back if any is picked, or else picks one. */
export type PickStep = 'toggle' | 'fewer' | 'more'

/** Returns the item of a stack that a step picks or puts back; undefined if there is none. */
export function itemForStep(
  ids: readonly string[],
  picked: ReadonlySet<string>,
  step: PickStep,
): string | undefined {
  const lastPicked = ids.findLast((id) => picked.has(id))
  const firstUnpicked = ids.find((id) => !picked.has(id))
  switch (step) {
    case 'more':
      return firstUnpicked
    case 'fewer':
      return lastPicked
    case 'toggle':
      return lastPicked ?? firstUnpicked
    default:
      return step satisfies never
  }
}

type Key = Readonly<{ key: string; ctrlKey: boolean; metaKey: boolean }>

/** Returns the step for + or -; undefined for any other key. With Ctrl or Cmd, + and - zoom the page instead. */
export function stepOfKey({ key, ctrlKey, metaKey }: Key): PickStep | undefined {
  if (ctrlKey || metaKey) return undefined
  if (key === '+') return 'more'
  return key === '-' ? 'fewer' : undefined
}

/**
 * True for Ctrl+A and Cmd+A. A layout without Latin letters, such as the Russian one, has another letter on that key.
 * Windows reports AltGr, which types letters, as Ctrl and Alt together.
 */
export function isSelectAll({
  key,
  code,
  ctrlKey,
  metaKey,
  altKey,
}: Key & Readonly<{ code: string; altKey: boolean }>): boolean {
  if ((!ctrlKey && !metaKey) || altKey) return false
  return /^[a-z]$/i.test(key) ? key.toLowerCase() === 'a' : code === 'KeyA'
}
