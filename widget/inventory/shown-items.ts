import { useMemo } from 'react'
import type { Item } from '../../contract/widget-api.ts'
import { shownInventory, visibleItems } from '../flow/selectors.ts'
import { type Stacks, stacksOf } from '../flow/stacks.ts'
import type { Stand } from '../flow/state.ts'
import type { StandTexts } from '../i18n/stand.ts'
import { useStandTexts } from './texts.ts'

/** `found`: the fronts of the stacks that match the search, in the chosen order. */
export type ShownItems = Stacks & { found: readonly Item[] }

const NO_ITEMS: readonly Item[] = []

export function shownItems(stand: Stand, phases: StandTexts['phases']): ShownItems {
  const stacks = stacksOf(shownInventory(stand)?.items ?? NO_ITEMS)
  return { ...stacks, found: visibleItems(stacks.fronts, stand.search, { sort: stand.sort, words: phases }) }
}

/** The result is kept, because a search in thousands of items takes time and every pick renders the stand. */
export function useShownItems(stand: Stand): ShownItems {
  const { phases } = useStandTexts().texts
  const { inventory, search, sort } = stand
  // biome-ignore lint/correctness/useExhaustiveDependencies: a pick changes the stand, but not its items
  return useMemo(() => shownItems(stand, phases), [inventory, search, sort, phases])
}
