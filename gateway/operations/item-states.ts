/**
 * The states of items. They have their own file, so the help of the command line does not load the operations on items.
 */
import type { ItemState } from '../departures/item.ts'

const ALL: Record<ItemState, true> = { protected: true, held: true, departed: true, moved: true, back: true }

const isState = (name: string): name is ItemState => Object.hasOwn(ALL, name)

export const ITEM_STATES: readonly ItemState[] = Object.keys(ALL).filter(isState)
