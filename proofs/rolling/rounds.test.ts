import { expect, test } from 'vitest'
import { freePort } from '../../gateway/testing/free-port.ts'
import { ready } from './rounds.ts'

test('a gateway that ended fails the wait at once, with its output', async () => {
  const ended = { hasEnded: () => true, output: () => 'migration 0018 broke off' }
  await expect(ready(`http://127.0.0.1:${await freePort()}`, ended)).rejects.toThrow(
    'the gateway ended:\nmigration 0018 broke off',
  )
})
