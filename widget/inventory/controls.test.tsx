import { expect, it } from 'vitest'
import type { Flow } from '../flow/runner.ts'
import type { FlowState } from '../flow/state.ts'
import { item, play, standOf, withItems } from '../flow/test-states.ts'
import { en } from '../i18n/en.ts'
import { markup } from '../test-markup.tsx'
import { Controls } from './controls.tsx'

/** A flow that stays in this state. */
const flowOf = (state: FlowState): Flow => ({
  state: () => state,
  dispatch: () => {},
  subscribe: () => () => {},
})

it('while the inventory loads, the reload button is off, but keeps the focus after a press', () => {
  const buttonOf = (state: FlowState): string | undefined =>
    new RegExp(`<button[^>]*aria-label="${en.reload}"[^>]*>`).exec(
      markup(<Controls stand={standOf(state)} games={['cs']} flow={flowOf(state)} />),
    )?.[0]
  const ready = withItems([item('1')])
  expect(buttonOf(ready)).toContain('aria-disabled="false"')
  const loading = buttonOf(play(ready, { kind: 'reloadPressed' }).state)
  expect(loading).toContain('aria-disabled="true"')
  // A browser takes the focus from a button that becomes disabled.
  expect(loading).not.toMatch(/\sdisabled/)
})
