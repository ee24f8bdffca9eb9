import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import tokens from '../styles/tokens.css?raw'
import { accentIn, contrastOf, SCHEMES } from './accent.ts'

const [dark = '', light = ''] = tokens.split('prefers-color-scheme: light')

/** The surfaces of each scheme in the style sheet. */
const SURFACES = Object.fromEntries(
  SCHEMES.map((scheme) => {
    const block = scheme === 'dark' ? dark : light
    const colours = [...block.matchAll(/--(?:bg|panel|panel-raised|field): (#[0-9a-f]{6})/g)]
    return [scheme, colours.map(([, colour = '']) => colour)]
  }),
)

const colour = fc
  .integer({ min: 0, max: 0xffffff })
  .map((number) => `#${number.toString(16).padStart(6, '0')}`)

/** The least contrast of an icon with its surface, and of a text with its background, as WCAG requires. */
const ICON_CONTRAST = 3
const TEXT_CONTRAST = 4.5

describe.each(SCHEMES)("a store's colour on a %s page", (scheme) => {
  it('stands out from every surface, and text on it is readable', () => {
    expect(SURFACES[scheme]).toHaveLength(4)
    fc.assert(
      fc.property(colour, (chosen) => {
        const { accent, strong, on } = accentIn(scheme, chosen)
        for (const surface of SURFACES[scheme] ?? []) {
          expect(contrastOf(accent, surface)).toBeGreaterThanOrEqual(ICON_CONTRAST)
        }
        expect(contrastOf(on, accent)).toBeGreaterThanOrEqual(TEXT_CONTRAST)
        expect(contrastOf(on, strong)).toBeGreaterThanOrEqual(TEXT_CONTRAST)
      }),
      { numRuns: 500 },
    )
  })

  it('is not changed if it already stands out', () => {
    const visible = scheme === 'dark' ? '#ff8800' : '#0055aa'
    expect(accentIn(scheme, visible).accent).toBe(visible)
  })
})

it('contrast is computed as in WCAG', () => {
  expect(contrastOf('#000000', '#ffffff')).toBeCloseTo(21)
  expect(contrastOf('#777777', '#ffffff')).toBeCloseTo(4.48, 1)
})
