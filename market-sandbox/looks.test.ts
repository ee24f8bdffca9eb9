import { createServer, type ServerResponse } from 'node:http'
import { expect, it } from 'vitest'
import { startMarket } from './start.ts'

/** A Steam sandbox that has only a clock, and answers only while nothing holds it. */
async function startClock() {
  const held: ServerResponse[] = []
  let isHeld = false
  let reads = 0
  const answer = (response: ServerResponse) => response.end('{"aheadS":0}')
  const server = createServer((_request, response) => {
    reads += 1
    if (isHeld) held.push(response)
    else answer(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return {
    url: `http://localhost:${address.port}`,
    countReads: () => reads,
    hold() {
      isHeld = true
      reads = 0
    },
    release() {
      isHeld = false
      for (const response of held.splice(0)) answer(response)
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

it('looks that wait for a slow Steam become one, so they do not pile up', async () => {
  const steam = await startClock()
  const market = await startMarket({ port: 0, steamUrl: steam.url, everyMs: 0 })
  steam.hold()
  const first = market.look()
  await expect.poll(steam.countReads).toBe(1)
  const laterLooks = Array.from({ length: 5 }, () => market.look())
  steam.release()
  await Promise.all([first, ...laterLooks])
  // Each of the two markets looked once for the first call, and once for all others.
  expect(steam.countReads()).toBe(4)
  await market.close()
  await steam.close()
})
