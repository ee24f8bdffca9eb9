import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isServing, run } from './process.ts'
import { offers, players } from './sandbox.ts'
import { newPlace, type Place, removePlace, startTill, type Till } from './till.ts'

let place: Place
let till: Till

beforeAll(async () => {
  place = await newPlace()
  till = await startTill(place)
})

afterAll(async () => {
  await till?.main.interrupt()
  removePlace(place)
})

/** Processes whose command line names the folder. */
function processesOf(root: string): string[] {
  return execFileSync('ps', ['-A', '-o', 'pid=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(root))
}

test('it prints the three addresses and the first step', async () => {
  await expect.poll(() => till.main.output()).toContain(place.store)
  for (const address of [place.gateway, place.sandbox]) expect(till.main.output()).toContain(address)
  expect(till.main.output()).toContain('Top up')
})

test('a second start on the same folder is refused and says why', async () => {
  const other = await newPlace()
  const second = run('scripts/start.ts', { ...other.env, TRADETILL_DATA_ROOT: place.root })
  expect(await second.ended).toBe(1)
  expect(second.output()).toMatch(/already/i)
  expect(await isServing(`${place.gateway}/healthz`)).toBe(true)
  removePlace(other)
})

test('Ctrl-C ends all of it, and after the next start the data is still there', async () => {
  const before = await players(place.sandbox)
  const created = await fetch(`${place.store}/balance.json`).then((answer) => answer.text())
  expect(processesOf(place.root).length).toBeGreaterThan(0)
  expect(await till.main.interrupt()).toBe(0)
  for (const url of [place.gateway, place.sandbox, place.store]) expect(await isServing(url)).toBe(false)
  expect(processesOf(place.root)).toEqual([])

  till = await startTill(place)
  expect(await players(place.sandbox)).toEqual(before)
  expect(await offers(place.sandbox)).toEqual([])
  expect(await fetch(`${place.store}/balance.json`).then((answer) => answer.text())).toEqual(created)
})
