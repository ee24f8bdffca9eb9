/** A refused acknowledgement of Steam's notice must not prevent the send that follows it. */
import { expect, it, onTestFinished } from 'vitest'
import { BOT, openTestBench } from '../testing/test-bench.ts'

it.each([
  ['a redirect', { status: 302, headers: { location: 'https://steamcommunity.com/login' } }],
  ['401', { status: 401 }],
  ['403', { status: 403, body: '<h1>Access is denied</h1>' }],
  ['a demand for a login', { status: 200, body: '{"needauth":true}' }],
])('an offer is sent although Steam answers the acknowledgement with %s', async (_, effect) => {
  const bench = await openTestBench()
  onTestFinished(() => bench.close())
  bench.enrol(BOT)
  bench.writeRules()
  bench.steam.fault({ match: { path: '/trade/new/acknowledge' }, times: 10, effect })
  const wish = await bench.makeWish(bench.addStock(BOT, 1))
  await bench.runRounds(1)
  expect(await bench.readDeed(wish)).toMatchObject({ state: 'offered' })
  const countAcknowledgements = () => bench.calls.filter((path) => path === '/trade/new/acknowledge').length
  expect(countAcknowledgements()).toBe(1)
  expect(bench.logged.filter((line) => line.includes('did not accept the acknowledgement'))).toHaveLength(1)
  // The vault acknowledges again, but not with every send.
  await bench.makeWish(bench.addStock(BOT, 1))
  await bench.runRounds(1)
  expect(countAcknowledgements()).toBe(1)
  bench.advanceMs(600_000)
  await bench.makeWish(bench.addStock(BOT, 1))
  await bench.runRounds(1)
  expect(countAcknowledgements()).toBe(2)
})
