/** One case of each defence. `npm run prove -- attacks` runs every case, then each again with its defence off. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTill, type Till } from '../../gateway/testing/till.ts'
import type { Case } from './attack.ts'
import { ELSEWHERE, FAMILIES } from './families.ts'
import { attacksProof } from './prove.ts'
import { outcomesOf } from './run.ts'
import { openTarget, type Target } from './target.ts'
import { misplacedOf } from './without.ts'

let till: Till
let target: Target

beforeAll(async () => {
  till = await startTill()
  target = await openTarget(till)
})
afterAll(async () => {
  await target.close()
  await till.close()
})

/** Returns the first case of each defence. A map keeps the last of equal keys, so it is filled in reverse. */
const firstOfEachDefence = (cases: readonly Case[]): Case[] => [
  ...new Map(cases.toReversed().map((each) => [each.stoppedBy, each])).values(),
]

describe.each(FAMILIES.map((family) => [family.number, family.name, family] as const))(
  '%i %s',
  (_number, _name, family) => {
    it('honest calls succeed', async () => {
      expect(await (family.kind === 'parts' ? family.honest() : family.honest(target))).toBeUndefined()
    })

    it('each defence stops its first case', async () => {
      const cases = await (family.kind === 'parts' ? family.cases() : family.cases(target))
      const outcomes = await outcomesOf(firstOfEachDefence(cases))
      expect(outcomes.map(({ stoppedBy }) => stoppedBy).sort()).toEqual(Object.keys(family.defences).sort())
      expect(outcomes.filter(({ result }) => result !== undefined)).toEqual([])
    })
  },
)

describe('npm run prove -- attacks', () => {
  it('takes the number of a family that it runs, and refuses any other number', () => {
    const accepts = (number: number) => attacksProof.options.safeParse({ family: String(number) }).success
    expect(FAMILIES.filter(({ number }) => !accepts(number))).toEqual([])
    expect([...ELSEWHERE.map(({ number }) => number), 999].filter(accepts)).toEqual([])
  })
})

describe('the families', () => {
  it('are numbered without a gap or a repetition', () => {
    const numbers = [FAMILIES, ELSEWHERE].flatMap((list) => list.map(({ number }) => number))
    const withoutGap = Array.from({ length: numbers.length }, (_, index) => index + 1)
    expect(numbers.sort((a, b) => a - b)).toEqual(withoutGap)
  })

  it('that other tests cover are in docs/proofs.md, each with the reason why this proof leaves it out', () => {
    const text = readFileSync(join(import.meta.dirname, '../../docs/proofs.md'), 'utf8')
    const rows = ELSEWHERE.map(
      ({ number, name, where, why }) => `| ${number} ${name} | \`${where}\` | ${why} |`,
    )
    expect(text.split('\n').filter((row) => /^\| \d+ .* \| `[^`]+` \| /.test(row))).toEqual(rows)
  })

  it('that are covered here are in docs/security.md, each with the number of its defences', () => {
    const text = readFileSync(join(import.meta.dirname, '../../docs/security.md'), 'utf8')
    const rows = FAMILIES.map(
      ({ number, name, defences }) => `| ${number} ${name} | ${Object.keys(defences).length} |`,
    )
    expect([...text.matchAll(/^\| \d+ .*? \| \d+ \|/gm)].map(([row]) => row)).toEqual(rows)
  })

  it('include every family that docs/security.md names', () => {
    const text = readFileSync(join(import.meta.dirname, '../../docs/security.md'), 'utf8')
    const named = [...text.matchAll(/famil(?:y|ies) ((?:\d+(?:, | and | to )?)+)/g)].flatMap(
      ([, list = '']) => list.match(/\d+/g)?.map(Number) ?? [],
    )
    const known = new Set([FAMILIES, ELSEWHERE].flatMap((list) => list.map(({ number }) => number)))
    // Fewer would mean that the expression no longer matches the document.
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter((number) => !known.has(number))).toEqual([])
  })

  it('name existing places in the sources, so each defence can be switched off', () => {
    const changes = FAMILIES.flatMap(({ defences }) => Object.values(defences).flatMap(({ off }) => off))
    expect(changes.length).toBeGreaterThan(0)
    expect(misplacedOf(changes)).toEqual([])
  })
})
