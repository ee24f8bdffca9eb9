/** The undo of a cleared selection. */
import { expect, it } from 'vitest'
import type { FlowEvent } from './events.ts'
import {
  inventory,
  inventoryRequest,
  item,
  play,
  standOf,
  toggle,
  withInventory,
  withItems,
} from './test-states.ts'

const CLEAR: FlowEvent = { kind: 'selectionCleared' }
const UNDO: FlowEvent = { kind: 'clearUndone' }

const cleared = () => play(withItems(), toggle('2'), toggle('1'), CLEAR).state

it('cleared picks can be restored once, in their order', () => {
  const { state } = play(cleared(), UNDO)
  expect(standOf(state)).toMatchObject({ selection: ['2', '1'], cleared: [] })
  expect(standOf(play(state, toggle('2'), toggle('1'), UNDO).state).selection).toEqual([])
})

it('an undo changes nothing if nothing was cleared', () => {
  const { state } = play(withItems(), toggle('1'))
  expect(play(state, UNDO).state).toEqual(state)
})

it.each<[string, FlowEvent]>([
  ['another pick', toggle('3')],
  ['several picks at once', { kind: 'itemsAdded', ids: ['3'] }],
  ['another game', { kind: 'gameChosen', game: 'rust' }],
])('after %s, the cleared picks can no longer be restored', (_, event) => {
  expect(standOf(play(cleared(), event).state).cleared).toEqual([])
})

it('an undo after a reload restores the items that are still in the inventory', () => {
  const reloading = play(cleared(), { kind: 'reloadPressed' }).state
  const { state } = play(withInventory(reloading, inventory([item('1'), item('3')])), UNDO)
  expect(standOf(state).selection).toEqual(['1'])
})

it('an undo while the items load restores the picks when the items are back', () => {
  const reloading = play(cleared(), { kind: 'reloadPressed' }).state
  const request = inventoryRequest(reloading)
  const failed = play(reloading, { kind: 'inventoryFailed', request, code: 'internal' }).state
  const again = play(failed, { kind: 'reloadPressed' }, UNDO).state
  const back = withInventory(again, inventory([item('1'), item('2'), item('3')]))
  expect(standOf(back).selection).toEqual(['2', '1'])
})
