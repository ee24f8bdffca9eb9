import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ready } from './embedded.ts'

const SILENCE_MS = 120_000

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** A fake PostgreSQL under its supervisor, whose output the test controls. */
function aStart() {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const supervisor = Object.assign(new EventEmitter(), { stdin, stdout, stderr })
  const outcome = ready(supervisor).then(
    () => 'ready',
    (error: unknown) => String(error),
  )
  /** Resolves once every listener has received the line. */
  const log = async (line: string) => {
    const heard = new Promise((resolve) => stderr.once('data', resolve))
    stderr.write(`${line}\n`)
    await heard
  }
  return { supervisor, stdout, log, outcome }
}

it('a start waits as long as PostgreSQL replays its log', async () => {
  const { stdout, log, outcome } = aStart()
  for (let turn = 0; turn < 10; turn += 1) {
    vi.advanceTimersByTime(SILENCE_MS - 1)
    await log('LOG:  redo in progress, elapsed time: 10.00 s, current LSN: 0/1A2B3C4')
  }
  stdout.write('ready\n')
  expect(await outcome).toBe('ready')
})

it.each([
  ['falls silent', () => vi.advanceTimersByTime(SILENCE_MS), 'it said nothing for 120 s'],
  ['ends', ({ supervisor }) => supervisor.emit('exit'), 'its supervisor ended'],
  ['reports why it failed', ({ stdout }) => stdout.write('failed: no room\n'), 'no room'],
] satisfies [string, (start: ReturnType<typeof aStart>) => unknown, string][])(
  'a start fails if PostgreSQL %s',
  async (_what, happen, reason) => {
    const start = aStart()
    await start.log('LOG:  starting PostgreSQL')
    happen(start)
    expect(await start.outcome).toBe(`Error: The embedded PostgreSQL did not start: ${reason}`)
    expect(start.supervisor.stdin.writableEnded).toBe(true)
  },
)
