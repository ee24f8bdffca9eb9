/** When the till is told which items are not on sale. */
import { expect, it } from 'vitest'
import { createUnlistedReport, type Unlisted } from './unlisted.ts'

/** The reason ends with a control character, which the report must not contain. */
const STOPPED: Unlisted = { market: 'm', account: '1', reason: 'stopped', because: 'it is off\u001b' }

function createBench() {
  let nowMs = 1_800_000_000_000
  const told: (readonly Unlisted[])[] = []
  const logged: string[] = []
  const bench = {
    told,
    logged,
    rows: [] as readonly Unlisted[],
    isTillAway: false,
    async pass(seconds: number) {
      for (let second = 0; second < seconds; second += 1) {
        nowMs += 1_000
        await report()
      }
    },
  }
  const report = createUnlistedReport({
    read: () => bench.rows,
    async report(rows) {
      if (bench.isTillAway) throw new Error('relation "vault_unlisted" does not exist')
      told.push(rows)
    },
    now: () => new Date(nowMs),
    say: (line) => void logged.push(line),
  })
  return bench
}

it('a changed list is reported within ten seconds, and an unchanged list again once a minute', async () => {
  const bench = createBench()
  await bench.pass(1)
  expect(bench.told).toEqual([[]])
  bench.rows = [STOPPED]
  await bench.pass(10)
  expect(bench.told).toEqual([[], [{ ...STOPPED, because: 'it is off?' }]])
  await bench.pass(59)
  expect(bench.told).toHaveLength(2)
  await bench.pass(1)
  expect(bench.told).toHaveLength(3)
})

it('a till that cannot take the reports is tried once a minute, and the log says so once', async () => {
  const bench = createBench()
  bench.isTillAway = true
  await bench.pass(600)
  expect(bench.logged).toHaveLength(1)
  bench.isTillAway = false
  await bench.pass(60)
  expect(bench.told).toEqual([[]])
})
