import { expect, test } from 'vitest'
import { freePort } from '../../gateway/testing/free-port.ts'
import { untilReady } from './rounds.ts'

test('waiting for a gateway that has ended fails immediately, with the gateway’s output', async () => {
  const ended = { hasEnded: () => true, output: () => 'migration 0018 broke off' }
  await expect(untilReady(`http://127.0.0.1:${await freePort()}`, ended)).rejects.toThrow(
    'the gateway ended:\nmigration 0018 broke off',
  )
})
