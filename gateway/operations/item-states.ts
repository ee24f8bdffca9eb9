/** Kept apart from the operations on items, so the help of the command line does not load them. */
import type { ItemState } from '../departures/item.ts'

const ALL: Record<ItemState, true> = { protected: true, held: true, departed: true, moved: true, back: true }

const isState = (name: string): name is ItemState => Object.hasOwn(ALL, name)

export const ITEM_STATES: readonly ItemState[] = Object.keys(ALL).filter(isState)
