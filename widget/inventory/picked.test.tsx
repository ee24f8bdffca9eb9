import { expect, it } from 'vitest'
import type { Payment } from '../../contract/widget-api.ts'
import type { FlowEvent } from '../flow/events.ts'
import type { Flow } from '../flow/runner.ts'
import { item, payment, play, standOf, toggle, withItems } from '../flow/test-states.ts'
import { en } from '../i18n/en.ts'
import { markup } from '../test-markup.tsx'
import { BottomBar } from './bottom-bar.tsx'

/** Returns the markup of the bottom bar. The items cost 2, 20 and 30 dollars. */
function bar(picked: readonly string[], change: Partial<Payment> = {}, ...events: FlowEvent[]): string {
  const items = [item('1', 200), item('2', 2_000), item('3', 3_000)]
  const { state } = play(withItems(items), ...picked.map(toggle), ...events)
  const flow: Flow = { state: () => state, dispatch: () => {}, subscribe: () => () => {} }
  return markup(<BottomBar stand={standOf(state)} payment={payment(change)} flow={flow} />)
}

it('on a phone the count of the picks is a button that opens their list, and the list is closed at first', () => {
  const html = bar(['3', '1'])
  const [, attributes = '', face = '', id = ''] =
    /<button type="button" class="bottom-picked"([^>]*)>(.*?)<\/button><div id="([^"]*)" popover="auto"/.exec(
      html,
    ) ?? []
  expect(attributes).toContain('aria-expanded="false"')
  expect(attributes).toContain(`popoverTarget="${id}"`)
  expect(face).toMatch(/\$32\.00.*Selected: 2/)
  const names = [...html.matchAll(/aria-label="Remove ([^"]*)"/g)].map(([, name]) => name)
  expect(names).toEqual(['Item 3', 'Item 1'])
})

it('on a phone the text about the money’s arrival says that a press on the pay button fixes the amount', () => {
  expect(bar(['2'])).toMatch(new RegExp(`popover="auto"[^>]*>[^<]*${en.payFixed}`))
})

it('on a phone no text says that a press on the pay button fixes the amount while the total is too high', () => {
  expect(bar(['2'], { maxAmount: 100 })).not.toContain(en.payFixed)
})

it('without picks the count is plain text', () => {
  const html = bar([])
  expect(html).toMatch(/<p class="bottom-picked">.*Selected: 0/)
  expect(html).not.toContain('picked-list')
})

it('after the picks are cleared, the same button restores them until another item is picked', () => {
  const html = bar(['3', '1'], {}, { kind: 'selectionCleared' })
  expect(html).toMatch(new RegExp(`aria-label="${en.clearUndoAll(2)}"[^>]*>${en.clearUndo}<`))
  expect(html).not.toContain(en.clearAll)
  expect(bar(['3'], {}, { kind: 'selectionCleared' }, toggle('1'))).not.toContain(en.clearUndo)
})

it('while an offer is open, the picks are not listed', () => {
  expect(bar(['1'], { status: 'pending' })).not.toContain('picked-list')
})

it('while an offer is being created, the picks are listed but cannot be removed', () => {
  const html = bar(['1'], { creating: true, itemCount: 1, amount: 200 })
  expect(html).toContain('picked-list')
  expect(html).not.toMatch(/aria-label="(?:Remove|Clear)/)
})
