/** Steam's refresh tokens end after 200 days. Without a new one, sold items could suddenly not be handed over. */
import { expect, it, onTestFinished } from 'vitest'
import { BOT, openTestBench, THIEF } from './testing/test-bench.ts'

const DAY_MS = 86_400_000

it('an account whose token ends within a week needs a person, until it is enrolled again', async () => {
  const bench = await openTestBench()
  onTestFinished(() => bench.close())
  bench.writeRules()
  bench.enrol(BOT)
  bench.advanceMs(192 * DAY_MS)
  bench.enrol(THIEF, true)
  await bench.runRounds(2)
  expect(await bench.readNeeds()).toEqual([])
  bench.advanceMs(DAY_MS)
  await bench.runRounds(2)
  const { steamId } = bench.accountOf(BOT)
  expect(await bench.readNeeds()).toEqual([{ kind: 'token_ends', about: `account ${steamId}` }])
  // It stays, even if nobody acts for days and the vault is started again.
  bench.advanceMs(3 * DAY_MS)
  bench.restart()
  await bench.runRounds(2)
  expect(await bench.readNeeds()).toEqual([{ kind: 'token_ends', about: `account ${steamId}` }])
  bench.enrol(BOT)
  bench.restart()
  await bench.runRounds(2)
  expect(await bench.readNeeds()).toEqual([])
})
