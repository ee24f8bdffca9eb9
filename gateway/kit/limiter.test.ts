import { expect, it } from 'vitest'
import { createFairLimiter } from './limiter.ts'

it('a fair limiter runs a new caller’s task before the waiting tasks of a caller that uses up its share', async () => {
  const limited = createFairLimiter({ inAll: 3, ofKey: 2 })
  const begun: string[] = []
  const ends = new Map<string, PromiseWithResolvers<void>>()
  const start = (key: string, name: string, fails = false) =>
    limited(key, async () => {
      begun.push(name)
      const end = Promise.withResolvers<void>()
      ends.set(name, end)
      await end.promise
      if (fails) throw new Error('failed')
      return name
    })
  const crowd = ['a1', 'a2', 'a3', 'a4'].map((name) => start('a', name, name === 'a2'))
  const others = [start('b', 'b1'), start('c', 'c1')]
  await expect.poll(() => begun).toEqual(['a1', 'a2', 'b1'])
  ends.get('b1')?.resolve()
  await expect.poll(() => begun).toEqual(['a1', 'a2', 'b1', 'c1'])
  ends.get('a2')?.resolve()
  await expect(crowd[1]).rejects.toThrow('failed')
  await expect.poll(() => begun.slice(4)).toEqual(['a3'])
  for (const name of ['a1', 'a3', 'c1']) ends.get(name)?.resolve()
  await expect.poll(() => begun.slice(5)).toEqual(['a4'])
  ends.get('a4')?.resolve()
  expect(await Promise.all([crowd[0], crowd[2], crowd[3], ...others])).toEqual(['a1', 'a3', 'a4', 'b1', 'c1'])
})

it('a fair limiter frees the place of a task that fails before its first wait', async () => {
  const limited = createFairLimiter({ inAll: 1, ofKey: 1 })
  const failing = () => {
    throw new Error('failed at once')
  }
  await expect(limited('a', failing)).rejects.toThrow('failed at once')
  expect(await limited('a', async () => 'begun')).toBe('begun')
})
