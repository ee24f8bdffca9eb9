/** The panel on a desktop, before Add funds is pressed and during an offer. Some tests cover the bar on a phone too. */
import { describe, expect, it } from 'vitest'
import type { Inventory, Payment } from '../../contract/widget-api.ts'
import type { Flow } from '../flow/runner.ts'
import { item, payment, play, standOf, toggle, withItems } from '../flow/test-states.ts'
import { en } from '../i18n/en.ts'
import { markup } from '../test-markup.tsx'
import { BottomBar } from './bottom-bar.tsx'
import { Summary } from './summary.tsx'

type PanelInput = { picked?: string[]; inventory?: Partial<Inventory>; payment?: Partial<Payment> }

/** Returns the panel's markup, or that of the bar on a phone. The items cost 2, 20 and 30 dollars. */
function panel(
  { picked = [], inventory = {}, payment: change = {} }: PanelInput,
  Panel: typeof Summary = Summary,
): string {
  const items = [item('1', 200), item('2', 2_000), item('3', 3_000)]
  const shown = { ...inventory, items: inventory.items ?? items }
  const { state } = play(withItems(items, shown), ...picked.map(toggle))
  const flow: Flow = {
    state: () => state,
    dispatch: () => {},
    subscribe: () => () => {},
  }
  return markup(<Panel stand={standOf(state)} payment={payment(change)} flow={flow} />)
}

const text = (markup: string) => markup.replace(/<[^>]+>/g, ' ').replace(/[ \u00a0]+/g, ' ')

const hold = { atOnce: 1_000, days: 8, until: '2026-11-30T12:00:00.000Z' }

describe('A-013 the button', () => {
  it.each<[string, PanelInput, string, boolean]>([
    ['says how much it adds', { picked: ['2', '3'] }, 'Add funds · $50.00', true],
    ['says how much more the picks need to reach the minimum', { picked: ['1'] }, 'Add $1.00 more', false],
    [
      'says how much is too much',
      { picked: ['2', '3'], payment: { maxAmount: 4_500 } },
      'Remove $5.00',
      false,
    ],
    ['names no amount if nothing is picked', {}, 'Add funds', false],
  ])('%s', (_, given, buttonText, isOn) => {
    const [, attributes = '', shownText = ''] =
      /<button type="button" class="button primary pay"([^>]*)>(.*?)<\/button>/.exec(panel(given)) ?? []
    expect(text(shownText).trim()).toBe(buttonText)
    expect(attributes).toContain(`aria-disabled="${!isOn}"`)
    // It can have the focus while it is off. A button with the attribute `disabled` cannot.
    expect(attributes).not.toMatch(/\sdisabled/)
    expect(attributes).toContain('aria-label="Add funds"')
  })

  it('is above the growing list of items', () => {
    const markup = panel({ picked: ['1', '2', '3'] })
    expect(markup.indexOf('class="button primary pay"')).toBeLessThan(markup.indexOf('class="summary-items"'))
  })
})

describe.each([
  ['on a desktop', Summary],
  ['on a phone', BottomBar],
])('D-15 a minimum that the items cannot reach, %s', (_, Panel) => {
  const few = { items: [item('1', 100), item('2', 50)], minPrice: 300 }
  const outOfReach = en.payBlocks.outOfReach('$3.00', '$1.50')

  it.each([
    ['before a pick', []],
    ['with all items picked', ['1', '2']],
  ])('is named %s, with the way back, and the button does not ask for more items', (_, picked) => {
    const markup = panel({ picked, inventory: few }, Panel)
    expect(text(markup)).toContain(outOfReach)
    expect(markup).toContain(`href="https://store.example/">${en.backToStore}<`)
    expect(text(markup)).not.toMatch(/Add \$|Add more items|Choose items/)
  })

  it('and a minimum above the maximum offer no “Pick for me”, because no pick can help', () => {
    expect(panel({}, Panel)).toContain(en.pickForMe)
    expect(panel({ inventory: few }, Panel)).not.toContain(en.pickForMe)
    expect(panel({ payment: { maxAmount: 250 } }, Panel)).not.toContain(en.pickForMe)
  })

  it('is compared with the worth of one offer’s items, not of all', () => {
    const inventory = { items: [item('1', 200), item('2', 200)], minPrice: 300 }
    expect(text(panel({ inventory }, Panel))).not.toContain('at most')
    expect(text(panel({ inventory: { ...inventory, maxItems: 1 } }, Panel))).toContain(
      en.payBlocks.outOfReach('$3.00', '$2.00'),
    )
  })
})

describe.each([
  ['on a desktop', Summary],
  ['on a phone', BottomBar],
])('D-15 a game’s minimum above the deposit’s maximum, %s', (_, Panel) => {
  it.each([
    ['before a pick', []],
    ['with a pick below both', ['1']],
    ['with a pick above both', ['2']],
  ])('leads to another game or the store %s, and asks neither for more items nor for fewer', (_, picked) => {
    const markup = panel({ picked, payment: { maxAmount: 250 } }, Panel)
    expect(text(markup)).not.toMatch(/Add \$|Add more items|Choose items|Remove/)
    expect(text(markup)).toContain(en.payBlocks.minimumAboveMaximum('$3.00', '$2.50'))
    expect(markup).toContain(`href="https://store.example/">${en.backToStore}<`)
  })
})

describe('D-9 the split shown before a press on Add funds', () => {
  it('shows the amount now, the amount later, and the reason', () => {
    const shownText = text(panel({ picked: ['2', '3'], inventory: { hold } }))
    expect(shownText).toContain('Now, expected $10.00 On Nov 30, expected $40.00')
    expect(shownText).toContain('Steam allows CS2 trades to be reversed for some days. For 8 days')
    expect(shownText).toContain(
      'a store gets money only up to its limit. You may get more now; the offer will say.',
    )
    // Other shoppers may use up the store's limit before the offer is created.
    expect(shownText).not.toContain('at least')
  })

  it('expects the entire amount now if the limit allows it, and promises nothing', () => {
    const shownText = text(panel({ picked: ['2'], inventory: { hold: { ...hold, atOnce: 5_200 } } }))
    expect(shownText).toContain('Now, expected $20.00')
    expect(shownText).toContain('All of it should come now; the offer tells you before you accept.')
    expect(shownText).not.toMatch(/at least|Nov/)
  })

  it('says that a press fixes the amount, if the button is on', () => {
    expect(text(panel({ picked: ['2'] }))).toContain(en.payFixed)
    expect(text(panel({ picked: ['1'] }))).not.toContain(en.payFixed)
  })

  it('gives no reason before anything is picked', () => {
    const shownText = text(panel({ inventory: { hold } }))
    expect(shownText).toContain('Now $0.00')
    expect(shownText).not.toMatch(/expected|reversed/)
  })

  it('mentions no limit if the store gets the entire amount on release', () => {
    const shownText = text(
      panel({ picked: ['2'], inventory: { hold: { ...hold, atOnce: 0, by: 'release' } } }),
    )
    expect(shownText).toContain('On November 30 $20.00')
    expect(shownText).toContain('for some days, so the store gets the money 8 days after')
    expect(shownText).not.toMatch(/Now|limit/)
  })

  it('mentions the store’s limit, without a figure, if the limit is used up and all money comes later', () => {
    const shownText = text(panel({ picked: ['2'], inventory: { hold: { ...hold, atOnce: 0, by: 'limit' } } }))
    expect(shownText).toContain('On Nov 30, expected $20.00')
    expect(shownText).toContain('a store gets money only up to its limit, which is used up right now.')
    expect(shownText.match(/\$[\d.]+/g)).not.toContain('$0.00')
  })

  it('shows only the amount now if credit for items of the game is never held', () => {
    const shownText = text(panel({ picked: ['2'] }))
    expect(shownText).toContain(
      'Now $20.00 Nothing is held for CS2: the store gets all of it once your items arrive.',
    )
    expect(shownText).not.toMatch(/expected|Nov|reversed/)
  })
})

describe('pick for me', () => {
  it('suggests amounts that the items can reach, below the button', () => {
    const markup = panel({})
    const offered = [...markup.matchAll(/aria-label="Pick items for ([^"]+)"/g)].map(([, amount]) => amount)
    expect(offered).toEqual(['$5.00', '$10.00', '$25.00', '$50.00'])
    expect(markup.indexOf('class="picker"')).toBeGreaterThan(markup.indexOf('class="button primary pay"'))
  })

  it('suggests only the store’s amount if it named one, and nothing during an open offer', () => {
    const markup = panel({ payment: { targetAmount: 4_900 } })
    expect(markup.match(/aria-label="Pick items for [^"]+"/g)).toEqual(['aria-label="Pick items for $49.00"'])
    expect(panel({ payment: { status: 'pending' } })).not.toContain('picker')
  })
})

describe('the offer', () => {
  const offer = { itemCount: 3, amount: 6_000, heldAmount: 4_000, heldUntil: '2026-11-30T12:00:00.000Z' }

  it.each<[string, Partial<Payment>, string]>([
    ['while it is open', { status: 'pending', timeLeft: 300 }, 'Nov 30, up to'],
    ['while it is being created', { creating: true }, 'November 30'],
  ])('shows its value %s, even after a reload without picks', (_, state, later) => {
    const shownText = text(
      panel({ inventory: { hold }, payment: { ...offer, ...state, targetAmount: 6_000 } }),
    )
    expect(shownText).toContain('Selected 3 Total $60.00')
    expect(shownText).not.toContain(' of ')
    expect(shownText).toContain(`$20.00 On ${later} $40.00`)
    expect(shownText).not.toContain('$0.00')
  })

  it('does not let the shopper put back the items while it is open', () => {
    const markup = panel({ picked: ['2', '3'], payment: { ...offer, status: 'pending' } })
    const off = [...markup.matchAll(/<button[^>]*aria-label="(?:Remove|Clear)[^>]*>/g)].map(([tag]) => tag)
    expect(off).toHaveLength(3)
    for (const tag of off) expect(tag).toContain('disabled=""')
  })
})

describe('D-15 a target', () => {
  it.each([
    ['shows how far the items go', ['2'], '$20.00 of $60.00', 'max="6000" value="2000"'],
    [
      'has a full bar if the items exceed it',
      ['1', '2', '3', '4'],
      '$62.00 of $60.00',
      'max="6000" value="6000"',
    ],
  ])('%s', (_, picked, shownText, bar) => {
    const items = [item('1', 200), item('2', 2_000), item('3', 3_000), item('4', 1_000)]
    const markup = panel({ picked, inventory: { items }, payment: { targetAmount: 6_000 } })
    expect(text(markup)).toContain(shownText)
    expect(markup).toContain(bar)
  })

  it('is absent if the store named no target', () => {
    expect(panel({ picked: ['2'] })).not.toContain('<progress')
  })
})
