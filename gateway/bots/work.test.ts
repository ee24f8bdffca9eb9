import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Queue } from '../db/queue.ts'
import { IDLE_HANDLERS } from '../testing/bots.ts'
import { fakeSession } from '../testing/fake-steam.ts'
import { captureLog } from '../testing/log.ts'
import type { BotHandlers, BotJob, TradeLane } from './bot.ts'
import { startWork } from './work.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Starts the work of a bot. `give` gives it a job. */
async function startBot(handlers: Partial<BotHandlers>) {
  let handler: (job: unknown) => Promise<void> = () => Promise.reject(new Error('no worker'))
  const queue: Queue = {
    ensure: async () => {},
    send: async () => {},
    work: async (_, onJob) => {
      handler = onJob
      return async () => {}
    },
    stop: async () => {},
  }
  const captured = captureLog()
  const bot = { botId: 1n, session: fakeSession(), leaseEpoch: 1n, mayWrite: () => true }
  const allHandlers = { ...IDLE_HANDLERS, laneOf: async () => 'sends' as const, ...handlers }
  const stop = await startWork({ queue, handlers: allHandlers, log: captured.log, watchMs: 5_000 }, bot)
  return { give: (job: BotJob) => handler(job), stop, lines: captured.lines }
}

const never = () => new Promise<void>(() => {})
const aTrade = (tradeId: string): BotJob => ({ kind: 'trade', tradeId })

/** The state of a job now, and after a while. The queue considers a job lost after a minute. */
async function outcomeOf(job: Promise<void>) {
  let outcome = 'open'
  job.then(
    () => {
      outcome = 'done'
    },
    () => {
      outcome = 'failed'
    },
  )
  await vi.advanceTimersByTimeAsync(0)
  return { now: outcome, after: async (ms: number) => vi.advanceTimersByTimeAsync(ms).then(() => outcome) }
}

describe('a job of a bot', () => {
  it.each<TradeLane>(['reads', 'settling', 'reviews'])(
    'is done as soon as its trade waits in the lane %s',
    async (lane) => {
      const { give } = await startBot({ laneOf: async () => lane, trade: never })
      for (let n = 0; n < 9; n += 1) expect((await outcomeOf(give(aTrade(String(n))))).now).toBe('done')
    },
  )

  it.each<TradeLane>(['sends', 'cancels'])(
    'that waits in the lane %s is done before the queue considers it lost',
    async (lane) => {
      const { give } = await startBot({ laneOf: async () => lane, trade: never })
      void give(aTrade('1'))
      const second = await outcomeOf(give(aTrade('2')))
      expect(second.now).toBe('open')
      expect(await second.after(50_000)).toBe('done')
    },
  )

  it('fails when its send fails, and an error is logged', async () => {
    const { give, lines } = await startBot({ trade: () => Promise.reject(new Error('no database')) })
    expect((await outcomeOf(give(aTrade('1')))).now).toBe('failed')
    expect(lines.join('')).toContain('work on a trade failed')
  })

  it('fails without an error line if the bot is given up before the send begins', async () => {
    const first = Promise.withResolvers<void>()
    const trade = vi.fn(() => first.promise)
    const { give, stop, lines } = await startBot({ trade })
    void give(aTrade('1'))
    const second = give(aTrade('2'))
    const outcome = await outcomeOf(second)
    const stopped = stop()
    first.resolve()
    await stopped
    expect(await outcome.after(0)).toBe('failed')
    expect(trade).toHaveBeenCalledTimes(1)
    expect(lines).toEqual([])
  })

  it('waits for the choice of its lane while the lanes of four other trades are being chosen', async () => {
    const laneOf = vi.fn(() => new Promise<TradeLane>(() => {}))
    const { give } = await startBot({ laneOf })
    for (let n = 0; n < 60; n += 1) void give(aTrade(String(n)))
    await vi.advanceTimersByTimeAsync(0)
    expect(laneOf).toHaveBeenCalledTimes(4)
  })

  it('does nothing if no work of its trade is due', async () => {
    const trade = vi.fn(never)
    const { give } = await startBot({ laneOf: async () => undefined, trade })
    expect((await outcomeOf(give(aTrade('1')))).now).toBe('done')
    expect(trade).not.toHaveBeenCalled()
  })
})
