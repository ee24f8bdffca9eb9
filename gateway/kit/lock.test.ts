import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { tryLock, waitForLock } from './lock.ts'

test('a lock has one holder at a time, and is free again once released', async () => {
  const name = randomUUID()
  const first = await tryLock(name)
  expect(first).toBeDefined()
  expect(await tryLock(name)).toBeUndefined()
  await first?.release()
  const second = await tryLock(name)
  expect(second).toBeDefined()
  await second?.release()
})

test('of many callers that try to take a lock at the same time, exactly one gets it', async () => {
  const name = randomUUID()
  const locks = await Promise.all(Array.from({ length: 20 }, () => tryLock(name)))
  const held = locks.filter((lock) => lock !== undefined)
  expect(held).toHaveLength(1)
  await held[0]?.release()
})

test('a waiter gives up after its time, or takes the lock once it is released', async () => {
  const name = randomUUID()
  const first = await tryLock(name)
  expect(await waitForLock(name, 100)).toBeUndefined()
  const waiting = waitForLock(name, 60_000)
  await first?.release()
  const second = await waiting
  expect(second).toBeDefined()
  await second?.release()
})
