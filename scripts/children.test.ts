import { EventEmitter, once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { lineWaiter, portProblem } from './children.ts'

const DEADLINE_MS = 1_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function fakeChild() {
  const lines = new EventEmitter()
  const { promise: ended, resolve: end } = Promise.withResolvers<string>()
  const waitForLine = lineWaiter({ name: 'gateway', lines, ended })
  const say = (line: string) => void lines.emit('line', line)
  return { say, end, ready: () => waitForLine('ready at', DEADLINE_MS) }
}

describe('the wait for a process of npm start', () => {
  it('ends when the process has printed the awaited line, even if the line came earlier', async () => {
    const { say, ready } = fakeChild()
    const waited = ready()
    say('gateway ready at http://localhost')
    await expect(waited).resolves.toBeUndefined()
    await expect(ready()).resolves.toBeUndefined()
  })

  it('fails if the process ends, or prints nothing in time', async () => {
    const silent = expect(fakeChild().ready()).rejects.toThrow('The gateway was not ready in time.')
    await vi.advanceTimersByTimeAsync(DEADLINE_MS)
    await silent
    const { end, ready } = fakeChild()
    const ended = expect(ready()).rejects.toThrow('The gateway did not start (exit code 1).')
    end('exit code 1')
    await ended
  })

  it('has no time limit during a migration, but has one afterwards', async () => {
    const { say, ready } = fakeChild()
    const waited = ready()
    const outcome = vi.fn<() => void>()
    waited.then(outcome, outcome)
    say('gateway is busy: waiting for another process that migrates')
    await vi.advanceTimersByTimeAsync(100 * DEADLINE_MS)
    say('gateway is busy: applying 0009_long.sql')
    await vi.advanceTimersByTimeAsync(100 * DEADLINE_MS)
    say('gateway has its database')
    await vi.advanceTimersByTimeAsync(DEADLINE_MS - 1)
    expect(outcome).not.toHaveBeenCalled()
    const late = expect(waited).rejects.toThrow('The gateway was not ready in time.')
    await vi.advanceTimersByTimeAsync(1)
    await late
  })
})

const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
)
const ADDRESSES = hasIpv6 ? ['127.0.0.1', '::1'] : ['127.0.0.1']

describe('a port', () => {
  it.each(ADDRESSES)('is in use if a process listens at %s, an address of localhost', async (host) => {
    const server = createServer()
    server.listen(0, host)
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    expect(await portProblem(port)).toBe('taken')
    server.close()
    await once(server, 'close')
    expect(await portProblem(port)).toBeUndefined()
  })
})
