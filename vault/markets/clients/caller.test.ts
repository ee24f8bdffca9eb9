import { expect, it } from 'vitest'
import { z } from 'zod'
import type { Failure } from '../market.ts'
import { createCaller } from './caller.ts'

const EVERY_MS = 500

/** A caller whose second turn comes only after the answer to the first call. */
function openCaller(status: number, text: string) {
  const answered = Promise.withResolvers<void>()
  let nowMs = 0
  let calls = 0
  const call = createCaller(
    {
      everyMs: EVERY_MS,
      callOf: () => ({ method: 'GET', url: new URL('https://market.test/') }),
      failureOf: (answer): Failure | undefined =>
        JSON.stringify(answer).includes('bad key') ? { kind: 'locked_out' } : undefined,
    },
    {
      key: 'the-key',
      connection: {
        async ask() {
          calls += 1
          return { status, type: '', text }
        },
        open() {
          throw new Error('this market has no socket')
        },
      },
      time: {
        now: () => nowMs,
        async pause(ms) {
          await answered.promise
          nowMs += ms
        },
      },
    },
  )
  return { call, endWait: answered.resolve, calls: () => calls }
}

it.each([
  ['too many requests', 429, '', 'busy'],
  ['a status that refuses the key', 401, '{}', 'busy'],
  ['a text that refuses the key', 200, '{"error":"bad key"}', 'locked_out'],
])(
  'a call that waits for its turn is not made if the answer to an earlier call was %s',
  async (_what, status, text, kind) => {
    const { call, endWait, calls } = openCaller(status, text)
    let timesBegun = 0
    const begin = async () => {
      timesBegun += 1
    }
    const ask = { read: (answer: unknown) => answer, begin }
    const first = call('money', z.unknown(), ask)
    const second = call('money', z.unknown(), ask)
    await first
    endWait()
    expect(await second).toEqual({ kind })
    expect([calls(), timesBegun]).toEqual([1, 1])
  },
)
