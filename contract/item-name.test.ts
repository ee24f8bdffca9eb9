import { expect, it } from 'vitest'
import { PHASES } from './games.ts'
import { nameWithPhase, PHASE_WORDS } from './item-name.ts'

it.each([
  ['★ Karambit | Doppler (Factory New)', 'Ruby', '★ Karambit | Doppler Ruby (Factory New)'],
  ['★ Керамбит | Волны (Прямо с завода)', 'Рубин', '★ Керамбит | Волны Рубин (Прямо с завода)'],
  ['My "(old)" knife', 'Phase 2', 'My "(old)" knife Phase 2'],
  ['(Factory New)', 'Ruby', '(Factory New) Ruby'],
  ['AK-47 | Redline (Field-Tested)', null, 'AK-47 | Redline (Field-Tested)'],
  ['', 'Ruby', ' Ruby'],
])('%s with the phase %s is %s', (name, phase, whole) => {
  expect(nameWithPhase(name, phase)).toBe(whole)
})

it('no two phases have the same name in one language', () => {
  for (const words of Object.values(PHASE_WORDS))
    expect(new Set(Object.values(words)).size).toBe(PHASES.length)
})
