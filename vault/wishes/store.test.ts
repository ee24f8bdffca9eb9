/** The vault's reads of wishes from the till's database. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestBench, type TestBench } from '../testing/test-bench.ts'
import { wishesIn } from './store.ts'

let bench: TestBench

beforeAll(async () => {
  bench = await openTestBench()
})
afterAll(() => bench.close())

it('each read continues after the previous one, so every two reads cover all 60 waiting wishes', async () => {
  const made: string[] = []
  for (let count = 0; count < 60; count += 1) made.push(await bench.makeWish([]))
  const wishes = wishesIn((text, values = []) => bench.asVault.query(text, [...values]), bench.now)
  const read = async () => (await wishes.open()).map(({ id }) => id)
  expect(await read()).toEqual(made.slice(0, 50))
  expect(await read()).toEqual([...made.slice(50), ...made.slice(0, 40)])
  expect(await read()).toEqual([...made.slice(40), ...made.slice(0, 30)])
})
