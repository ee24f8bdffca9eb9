import { expect, test } from 'vitest'
import { createTillClock, systemClock } from './clock.ts'

const DAY_MS = 86_400_000

test('D-40 the till’s clock is ahead of the machine’s by the time that it was advanced, and never goes back', () => {
  const clock = createTillClock()
  expect(clock.advanceTo(DAY_MS)).toBe(true)
  for (const aheadMs of [DAY_MS, 0, -1]) expect(clock.advanceTo(aheadMs)).toBe(false)
  expect(clock.aheadMs()).toBe(DAY_MS)
  const machine = clock.machineNow()
  expect(clock.now().getTime()).toBeGreaterThanOrEqual(machine.getTime() + DAY_MS)
  expect(clock.tillTime(machine).getTime()).toBe(machine.getTime() + DAY_MS)
  expect(clock.machineTime(clock.tillTime(machine))).toEqual(machine)
})

test("D-40 the clock of live mode is the machine's, and cannot be advanced", () => {
  const time = new Date(0)
  expect(systemClock.machineTime(time)).toEqual(time)
  expect(systemClock.tillTime(time)).toEqual(time)
  expect(Object.keys(systemClock)).not.toContain('advanceTo')
})
