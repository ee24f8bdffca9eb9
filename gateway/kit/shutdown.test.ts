import { expect, test } from 'vitest'
import { captureLog } from '../testing/log.ts'
import { createShutdown } from './shutdown.ts'

const SHORT_LIMITS_MS = { calls: 20, work: 20, queue: 20, connections: 20, database: 20, folder: 20 }

test('parts end in the order of their phases, whatever the order in which they were added', async () => {
  const ended: string[] = []
  const shutdown = createShutdown(captureLog().log)
  shutdown.add('database', 'database', () => ended.push('database'))
  shutdown.add('work', 'bots', async () => ended.push('bots'))
  shutdown.add('calls', 'http', () => ended.push('http'))
  await shutdown.run()
  expect(ended).toEqual(['http', 'bots', 'database'])
})

test('a part that hangs or fails is reported, and does not stop the others from ending', async () => {
  const ended: string[] = []
  const { log, lines } = captureLog()
  const shutdown = createShutdown(log, SHORT_LIMITS_MS)
  shutdown.add('calls', 'a call that hangs', () => Promise.withResolvers<void>().promise)
  shutdown.add('work', 'work that fails', () => {
    throw new Error('no')
  })
  shutdown.add('work', 'work that ends', () => ended.push('work'))
  shutdown.add('connections', 'pool', () => ended.push('pool'))
  await shutdown.run()
  expect(ended).toEqual(['work', 'pool'])
  const text = lines.join('')
  expect(text).toMatch(/a call that hangs.*cut off/)
  expect(text).toMatch(/work that fails.*did not stop cleanly/)
})

test('parts of one phase end at the same time', async () => {
  const { log, lines } = captureLog()
  const shutdown = createShutdown(log)
  const { promise, resolve } = Promise.withResolvers<void>()
  shutdown.add('work', 'waits for the other', () => promise)
  shutdown.add('work', 'the other', () => resolve())
  await shutdown.run()
  expect(lines).toEqual([])
})

test('two simultaneous shutdowns end each part once', async () => {
  let ends = 0
  const shutdown = createShutdown(captureLog().log)
  shutdown.add('work', 'once', () => {
    ends += 1
  })
  await Promise.all([shutdown.run(), shutdown.run()])
  expect(ends).toBe(1)
})
