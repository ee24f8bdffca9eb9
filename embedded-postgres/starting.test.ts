/** The start of the embedded PostgreSQL, with a fake supervisor, a fake clock and a fake server. */
import { EventEmitter, once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { ensureDatabase, waitUntilReady } from './embedded.ts'

/** As in embedded.ts. */
const SILENCE_MS = 120_000

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** A fake PostgreSQL under its supervisor, whose output the test controls. */
function fakeStart() {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const supervisor = Object.assign(new EventEmitter(), { stdin, stdout, stderr })
  const outcome = waitUntilReady(supervisor).then(
    () => 'ready',
    (error: unknown) => String(error),
  )
  /** Resolves once every listener has received the line. */
  const log = async (line: string) => {
    const received = new Promise((resolve) => stderr.once('data', resolve))
    stderr.write(`${line}\n`)
    await received
  }
  return { supervisor, stdout, log, outcome }
}

it('a start waits while PostgreSQL replays its log, however long that takes', async () => {
  const { stdout, log, outcome } = fakeStart()
  for (let turn = 0; turn < 10; turn += 1) {
    vi.advanceTimersByTime(SILENCE_MS - 1)
    await log('LOG:  redo in progress, elapsed time: 10.00 s, current LSN: 0/1A2B3C4')
  }
  stdout.write('ready\n')
  expect(await outcome).toBe('ready')
})

it.each([
  ['PostgreSQL falls silent', () => vi.advanceTimersByTime(SILENCE_MS), 'it said nothing for 120 s'],
  ['the supervisor ends', ({ supervisor }) => supervisor.emit('exit'), 'its supervisor ended'],
  [
    'the supervisor reports why PostgreSQL failed',
    ({ stdout }) => stdout.write('failed: no room\n'),
    'no room',
  ],
] satisfies [string, (start: ReturnType<typeof fakeStart>) => unknown, string][])(
  'a start fails if %s',
  async (_what, happen, reason) => {
    const start = fakeStart()
    await start.log('LOG:  starting PostgreSQL')
    happen(start)
    expect(await start.outcome).toBe(`Error: The embedded PostgreSQL did not start: ${reason}`)
    expect(start.supervisor.stdin.writableEnded).toBe(true)
  },
)

it('a start fails, without ending the process, if PostgreSQL ends at the first query', async () => {
  const server = createServer((socket) => {
    // Answers the client's greeting with "authenticated" and "ready for a query".
    socket.once('data', () => {
      socket.write(Buffer.from('520000000800000000' + '5a0000000549', 'hex'))
      socket.once('data', () => socket.destroy())
    })
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = `postgres://tradetill:secret@127.0.0.1:${port}/postgres`
  await expect(ensureDatabase(url, [])).rejects.toThrow('Connection terminated unexpectedly')
})
