import { expect, test } from 'vitest'
import { captureLog } from '../testing/log.ts'
import { createEnding } from './ending.ts'

const SHORT = { calls: 20, work: 20, queue: 20, connections: 20, database: 20, folder: 20 }

test('phases end in their order, whatever order they were begun in', async () => {
  const ended: string[] = []
  const ending = createEnding(captureLog().log)
  ending.add('database', 'database', () => ended.push('database'))
  ending.add('work', 'bots', async () => ended.push('bots'))
  ending.add('calls', 'http', () => ended.push('http'))
  await ending.run()
  expect(ended).toEqual(['http', 'bots', 'database'])
})

test('a part that hangs or fails is told of, and does not keep the others', async () => {
  const ended: string[] = []
  const { log, lines } = captureLog()
  const ending = createEnding(log, SHORT)
  ending.add('calls', 'a call that hangs', () => Promise.withResolvers<void>().promise)
  ending.add('work', 'work that fails', () => {
    throw new Error('no')
  })
  ending.add('work', 'work that ends', () => ended.push('work'))
  ending.add('connections', 'pool', () => ended.push('pool'))
  await ending.run()
  expect(ended).toEqual(['work', 'pool'])
  const text = lines.join('')
  expect(text).toMatch(/a call that hangs.*cut off/)
  expect(text).toMatch(/work that fails.*did not stop cleanly/)
})

test('parts of one phase end side by side', async () => {
  const ending = createEnding(captureLog().log)
  const { promise, resolve } = Promise.withResolvers<void>()
  ending.add('work', 'waits for the other', () => promise)
  ending.add('work', 'the other', () => resolve())
  await ending.run()
})

test('what is ended once is not ended again', async () => {
  let ends = 0
  const ending = createEnding(captureLog().log)
  ending.add('work', 'once', () => {
    ends += 1
  })
  await Promise.all([ending.run(), ending.run()])
  expect(ends).toBe(1)
})
