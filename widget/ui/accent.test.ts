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

describe.each(SCHEMES)("a store's colour on a %s page", (scheme) => {
  it('stands out from every surface, and text on it is readable', () => {
    expect(SURFACES[scheme]).toHaveLength(4)
    fc.assert(
      fc.property(colour, (chosen) => {
        const { accent, strong, on } = accentIn(scheme, chosen)
        for (const surface of SURFACES[scheme] ?? []) {
          expect(contrastOf(accent, surface)).toBeGreaterThanOrEqual(3)
        }
        expect(contrastOf(on, accent)).toBeGreaterThanOrEqual(4.5)
        expect(contrastOf(on, strong)).toBeGreaterThanOrEqual(4.5)
      }),
      { numRuns: 500 },
    )
  })

  it('is unchanged if it already stands out', () => {
    const fit = scheme === 'dark' ? '#ff8800' : '#0055aa'
    expect(accentIn(scheme, fit).accent).toBe(fit)
  })
})

it('contrast follows WCAG', () => {
  expect(contrastOf('#000000', '#ffffff')).toBeCloseTo(21)
  expect(contrastOf('#777777', '#ffffff')).toBeCloseTo(4.48, 1)
})
