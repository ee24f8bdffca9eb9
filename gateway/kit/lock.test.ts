import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { tryLock, waitForLock } from './lock.ts'

test('a lock has one holder at a time, and is free after its release', async () => {
  const name = randomUUID()
  const first = await tryLock(name)
  expect(first).toBeDefined()
  expect(await tryLock(name)).toBeUndefined()
  await first?.release()
  const second = await tryLock(name)
  expect(second).toBeDefined()
  await second?.release()
})

test('a lock goes to exactly one of many callers that try to take it at the same time', async () => {
  const name = randomUUID()
  const locks = await Promise.all(Array.from({ length: 20 }, () => tryLock(name)))
  const held = locks.filter((lock) => lock !== undefined)
  expect(held).toHaveLength(1)
  await held[0]?.release()
})

test('a waiter takes the lock when it is released, or gives up when the waiter’s time is up', async () => {
  const name = randomUUID()
  const first = await tryLock(name)
  expect(await waitForLock(name, 100)).toBeUndefined()
  const waiting = waitForLock(name, 60_000)
  await first?.release()
  const second = await waiting
  expect(second).toBeDefined()
  await second?.release()
})

/** On a Mac the lock is a socket in a file, which a killed holder leaves behind. */
async function leaveSocketOf(name: string): Promise<void> {
  const script = `
    Object.defineProperty(process, 'platform', { value: 'darwin' })
    const { tryLock } = await import(${JSON.stringify(join(import.meta.dirname, 'lock.ts'))})
    await tryLock(${JSON.stringify(name)})
    process.kill(process.pid, 'SIGKILL')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' })
  await once(child, 'exit')
  expect(child.signalCode).toBe('SIGKILL')
}

describe('on a Mac', () => {
  const { platform } = process
  const setPlatform = (value: string) => Object.defineProperty(process, 'platform', { value })
  beforeEach(() => setPlatform('darwin'))
  afterEach(() => setPlatform(platform))

  test('the lock of a killed holder goes to exactly one of many callers that find it', async () => {
    const name = randomUUID()
    await leaveSocketOf(name)
    const locks = await Promise.all(Array.from({ length: 20 }, () => tryLock(name)))
    const held = locks.filter((lock) => lock !== undefined)
    expect(held).toHaveLength(1)
    expect(await tryLock(name)).toBeUndefined()
    await held[0]?.release()
  })
})
