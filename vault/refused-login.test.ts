/** An account whose logins Steam refuses, for example because its owner logged out all devices. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { BOT, openTestBench, type TestBench } from './testing/test-bench.ts'

const HOUR_MS = 3_600_000

let bench: TestBench

beforeAll(async () => {
  bench = await openTestBench()
  bench.writeRules()
})
afterAll(() => bench.close())

async function readNeeds() {
  const { rows } = await bench.database.pool.query('select kind, about from vault_need')
  return rows
}

it('a wish says that its account cannot log in; after an hour, and until a login works, a person is needed', async () => {
  const { steamId } = bench.accountOf(BOT)
  bench.enrol(BOT)
  const wish = await bench.makeWish(bench.addStock(BOT, 1))
  await fetch(`${bench.steam.url}/control/sessions/${steamId}/revoke`, { method: 'POST' })
  await bench.runRounds(1)
  const waits = { state: 'waiting', because: 'Steam refuses the login of this account' }
  expect(await bench.readDeed(wish)).toEqual(waits)
  bench.advanceMs(HOUR_MS - 2 * 60_000)
  await bench.runRounds(1)
  expect(await readNeeds()).toEqual([])
  await bench.runRounds(2)
  expect(await readNeeds()).toEqual([{ kind: 'login_refused', about: `account ${steamId}` }])

  bench.restart()
  bench.enrol(BOT)
  await bench.runRounds(2)
  expect(await readNeeds()).toEqual([])
  expect(await bench.readDeed(wish)).toMatchObject({ state: 'offered' })
})

it('a login that Steam does not answer does not count as refused', async () => {
  bench.restart()
  bench.enrol(BOT)
  const wish = await bench.makeWish(bench.addStock(BOT, 1))
  bench.steam.fault({
    match: { path: '/IAuthenticationService/GenerateAccessTokenForApp' },
    times: 10,
    effect: { status: 503 },
  })
  await bench.runRounds(1)
  bench.advanceMs(HOUR_MS)
  await bench.runRounds(2)
  expect(await bench.readDeed(wish)).toMatchObject({ state: 'waiting', because: 'Steam does not answer' })
  expect(await readNeeds()).toEqual([])
})
