import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { freePort as freePortOfTests } from '../testing/free-port.ts'
import { freePort } from './free-port.ts'

test('a free port has no listener, and a range without a free port is refused', async () => {
  const taken = await freePortOfTests()
  const server = createServer().listen(taken, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  await expect(freePort({ from: taken, until: taken + 1 })).rejects.toThrow(`No port from ${taken}`)
  server.close()
  await once(server, 'close')
  expect(await freePort({ from: taken, until: taken + 1 })).toBe(taken)
})
