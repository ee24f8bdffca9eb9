import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { covers, effectOfHolds, isPattern, likePatternOf, type PriceHold } from './price-hold.ts'

const DOPPLER = '★ Karambit | Doppler (Factory New)'

describe('the name of a hold', () => {
  it.each([
    ['* Doppler *', DOPPLER, true],
    ['* Doppler *', '★ Karambit | Gamma', false],
    ['* Doppler', DOPPLER, false],
    ['★ *', DOPPLER, true],
    ['★ *', 'AK-47 | Redline', false],
    ['*(Factory New)', DOPPLER, true],
    ['★*Doppler*New)', DOPPLER, true],
    ['ab*ba', 'aba', false],
    ['ab*ba', 'abba', true],
    ['a*b*a', 'aba', true],
    [DOPPLER, DOPPLER, true],
    [DOPPLER, `${DOPPLER} `, false],
    ['Music Kit | Knock2, dashstar*', 'Music Kit | Knock2, dashstar*', true],
  ])('%s, compared with %s, gives %s', (name, item, fits) => {
    expect(covers({ name }, item)).toBe(fits)
  })

  it('that is a pattern matches the same items as its LIKE expression', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '%', '_', '\\'), maxLength: 6 })
    const pattern = fc.array(letters, { minLength: 2, maxLength: 4 }).map((parts) => parts.join('*'))
    fc.assert(
      fc.property(pattern, letters, (name, item) => {
        expect(covers({ name }, item)).toBe(isLike(likePatternOf(name) ?? '', item))
      }),
    )
  })

  it('is a pattern only if it has an asterisk; null means an entire game', () => {
    expect([likePatternOf(null), likePatternOf(DOPPLER), isPattern(null), isPattern(DOPPLER)]).toEqual([
      null,
      null,
      false,
      false,
    ])
  })
})

/** Matches like SQL's LIKE, letter by letter: `%` stands for any text, `_` for any one letter. */
function isLike(like: string, text: string): boolean {
  if (like === '') return text === ''
  const [first = '', second = ''] = like
  if (first === '_') return text !== '' && isLike(like.slice(1), text.slice(1))
  if (first === '%') return isLike(like.slice(1), text) || (text !== '' && isLike(like, text.slice(1)))
  const isQuoted = first === '\\'
  return text.startsWith(isQuoted ? second : first) && isLike(like.slice(isQuoted ? 2 : 1), text.slice(1))
}

describe('holds on an item', () => {
  const [now, before, longBefore] = [new Date(3_000), new Date(2_000), new Date(1_000)]
  const hold = (
    kind: PriceHold['kind'],
    name: string | null,
    more: Partial<Pick<PriceHold, 'usdMicros' | 'since'>> = {},
  ): PriceHold => ({ kind, name, usdMicros: null, since: before, ...more })

  it('do not affect other items, whose price is judged at the current time', () => {
    expect(effectOfHolds([hold('blocked', 'Knife')], DOPPLER, now)).toEqual({
      blocked: false,
      asOf: now,
      override: null,
    })
  })

  it('freeze its price at the time of the first freeze', () => {
    const holds = [hold('frozen', null), hold('frozen', '* Doppler *', { since: longBefore })]
    expect(effectOfHolds(holds, DOPPLER, now)).toMatchObject({ asOf: longBefore })
  })

  it('set its price, and the hold with the most specific name decides', () => {
    const price = (name: string, usdMicros: bigint) => hold('override', name, { usdMicros })
    const holds = [price('★ *', 1n), price('* Doppler *', 2n)]
    expect(effectOfHolds(holds, DOPPLER, now).override).toBe(2n)
    expect(effectOfHolds([price(DOPPLER, 3n), ...holds], DOPPLER, now).override).toBe(3n)
  })

  it('block it, whatever its set price', () => {
    const holds = [hold('override', DOPPLER, { usdMicros: 3n }), hold('blocked', '★ *')]
    expect(effectOfHolds(holds, DOPPLER, now)).toMatchObject({ blocked: true })
  })
})
