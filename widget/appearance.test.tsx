import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { CURRENCIES } from '../contract/money.ts'
import type { Item } from '../contract/widget-api.ts'
import { item } from './flow/test-states.ts'
import { Card } from './inventory/card.tsx'
import { LevelBadge } from './modals/level.tsx'
import { markup } from './test-markup.tsx'
import { CurrencyIcon } from './ui/currency.tsx'

const cardOf = (change: Partial<Item>): string =>
  markup(
    <Card
      item={{ ...item('1', 500), iconUrl: 'https://img.test/1.png', ...change }}
      index={0}
      column={0}
      width={110}
      currency="USD"
      count={1}
      pickedCount={0}
      isTabStop={false}
      whyId="why"
    />,
  )

it('D-38 a picture is 100 px wide, with larger files for denser screens', () => {
  const base = 'https://img.test/economy/image/class/730/310'
  const card = cardOf({ iconUrl: `${base}/100fx100f` })
  expect(card).toContain(
    `src="${base}/100fx100f" srcSet="${base}/100fx100f, ${base}/200fx200f 2x, ${base}/360fx360f 3x"`,
  )
  expect(card).toContain('width="100" height="100"')
})

it('a phase of a Doppler is shown after the name, and is part of the accessible name', () => {
  const card = cardOf({
    name: '★ Karambit | Doppler (Factory New)',
    wearCategory: 'WearCategory0',
    phase: 'blackPearl',
  })
  expect(/class="card-name"[^>]*>([^<]*)</.exec(card)?.[1]).toBe('Doppler Black Pearl')
  expect(card).toContain('aria-label="★ Karambit | Doppler Black Pearl (Factory New), Factory New, $5.00"')
})

it.each([
  ['the game’s own word', 'Classified', 'Item 1, Classified, $5.00'],
  ['nothing if the game has no word', null, 'Item 1, $5.00'],
])('A-043 the rarity on a card, and in its accessible name, is %s', (_, rarityName, name) => {
  const card = cardOf({ rarity: 'rarity-5', rarityName })
  expect(/class="card-rarity">([^<]*)</.exec(card)?.[1]).toBe(rarityName ?? '')
  expect(card).toContain(`aria-label="${name}"`)
  expect(card).toContain('data-currency="USD"')
})

describe('A-119 a level', () => {
  const shapeOf = (level: number) => / d="([^"]+)"/.exec(markup(<LevelBadge level={level} />))?.[1]

  it('has a circle below 100, and another shape for each hundred up to 1,100', () => {
    expect(shapeOf(99)).toBeUndefined()
    const hundreds = Array.from({ length: 11 }, (_, index) => shapeOf((index + 1) * 100))
    expect(new Set(hundreds).size).toBe(11)
    expect(hundreds).not.toContain(undefined)
    expect(shapeOf(199)).toBe(hundreds[0])
    expect(shapeOf(5000)).toBe(hundreds[10])
  })

  it.each([
    [0, 'level-0 tens-0'],
    [47, 'level-40 tens-4'],
    [112, 'level-100 tens-1'],
    [1234, 'level-1200 tens-3'],
  ])('of %i has the classes %s', (level, classes) => {
    const badge = markup(<LevelBadge level={level} />)
    expect(badge).toContain(`class="level ${classes}`)
    expect(badge).toContain(`Steam level ${level}<`)
  })
})

it('A-046 each currency, roubles included, has an icon of its own', () => {
  const icons = ([...CURRENCIES, 'RUB'] as const).map((currency) =>
    renderToStaticMarkup(<CurrencyIcon currency={currency} />),
  )
  expect(new Set(icons.map((icon) => / d="([^"]+)"/.exec(icon)?.[1])).size).toBe(icons.length)
})
