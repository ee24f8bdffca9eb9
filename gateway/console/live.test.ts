/** The streams that notify pages of changes, over real HTTP. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect, it, onTestFinished, vi } from 'vitest'
import { post, signIn, startConsole } from '../testing/console.ts'
import { captureLog } from '../testing/log.ts'
import { createLive } from './live.ts'

const CHECK_MS = 2_000
/**
 * The first check is made at once. Every tenth is a beat: each stream gets a line, and those of ended sessions close.
 */
const FIRST_BEAT_MS = 9 * CHECK_MS

async function startLive() {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const state = { mark: 'a', read: async () => state.mark, mayStay: (_session: string): boolean => true }
  const { log, lines } = captureLog()
  const live = createLive({ log, readMark: () => state.read() })
  const server = createServer((request, response) => {
    const key = request.url ?? ''
    const isOpen = live.open({ key, response, mayStay: async () => state.mayStay(key) })
    if (!isOpen) response.writeHead(503).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    await live.stop()
    vi.useRealTimers()
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return {
    state,
    live,
    lines,
    pass: (ms: number) => vi.advanceTimersByTimeAsync(ms),
    /** Opens a stream for a session. The returned `text` grows with what arrives. */
    async open(session: string) {
      const { status, body } = await fetch(`http://127.0.0.1:${port}/${session}`)
      const stream = { status, text: '', hasEnded: false }
      const collect = async () => {
        for await (const part of body ?? []) stream.text += Buffer.from(part).toString()
        stream.hasEnded = true
      }
      void collect()
      return stream
    },
  }
}

it('at a beat the streams of ended sessions close, and the other streams get the change', async () => {
  const { state, open, pass } = await startLive()
  const [ended, other] = [await open('ended'), await open('other')]
  state.mayStay = (session) => session !== '/ended'
  await pass(FIRST_BEAT_MS - CHECK_MS)
  state.mark = 'b'
  await pass(CHECK_MS)
  await expect.poll(() => other.text).toBe(': open\n\ndata: changed\n\n')
  await expect.poll(() => ended.hasEnded).toBe(true)
  expect([ended.text, other.hasEnded]).toEqual([': open\n\n', false])
})

it('a stream closes after half an hour, at a beat', async () => {
  const { open, pass } = await startLive()
  const stream = await open('long')
  await pass(1_800_000 - CHECK_MS)
  await expect.poll(() => stream.text.match(/still here/g)).toHaveLength(90)
  expect(stream.hasEnded).toBe(false)
  await pass(FIRST_BEAT_MS + CHECK_MS)
  await expect.poll(() => stream.hasEnded).toBe(true)
  expect(stream.text.match(/still here/g)).toHaveLength(90)
})

it('a check that ends after the gateway was stopped writes to no stream', async () => {
  const { state, open, pass, live } = await startLive()
  const stream = await open('any')
  await pass(0)
  const { promise, resolve } = Promise.withResolvers<string>()
  state.read = () => promise
  await pass(CHECK_MS)
  const stopped = live.stop()
  resolve('b')
  await stopped
  await expect.poll(() => stream.hasEnded).toBe(true)
  expect(stream.text).toBe(': open\n\n')
})

it('an outage of the database is logged when it begins and when it ends', async () => {
  const { state, open, pass, lines } = await startLive()
  const read = state.read
  const stream = await open('any')
  await pass(CHECK_MS)
  for (const outage of [1, 2]) {
    state.read = async () => {
      throw new Error(`outage ${outage}`)
    }
    await pass(3 * CHECK_MS)
    state.read = read
    await pass(2 * CHECK_MS)
  }
  const logged = lines.map((line) => JSON.parse(line)).map(({ level, err }) => [level, err?.message])
  const outageLines = (outage: number) => [
    ['error', `outage ${outage}`],
    ['info', undefined],
  ]
  expect(logged).toEqual([...outageLines(1), ...outageLines(2)])
  expect(stream.hasEnded).toBe(false)
})

it('a session has at most three streams', async () => {
  const { open } = await startLive()
  const statuses: number[] = []
  for (let n = 0; n < 4; n += 1) statuses.push((await open('eager')).status)
  expect([...statuses, (await open('other')).status]).toEqual([200, 200, 200, 503, 200])
})

it('the call of a page that gets no stream is refused, so the page does not take it for a stream that ended', async () => {
  // This console has no room for any stream.
  const till = await startConsole()
  onTestFinished(till.close)
  const { headers } = await signIn(till, 'nina', 'viewer')
  const { status, error } = await post(till, 'live', { headers })
  expect([status, error?.kind]).toEqual([429, 'too_many'])
})

it('a caller who has already left gets no stream', async () => {
  const read = vi.fn(async () => 'a')
  const live = createLive({ log: captureLog().log, readMark: read })
  const opened = Promise.withResolvers<boolean>()
  const server = createServer(async (_request, response) => {
    const closed = once(response, 'close')
    caller.abort()
    await closed
    opened.resolve(live.open({ key: 'gone', response, mayStay: async () => true }))
  })
  onTestFinished(async () => {
    await live.stop()
    server.close()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const caller = new AbortController()
  await expect(fetch(`http://127.0.0.1:${port}/`, { signal: caller.signal })).rejects.toThrow()
  expect(await opened.promise).toBe(false)
  expect(read).not.toHaveBeenCalled()
})

it('a change is sent after a beat at which the sessions could not be read', async () => {
  const { state, open, pass } = await startLive()
  const stream = await open('any')
  state.mayStay = () => {
    throw new Error('the database is away')
  }
  await pass(FIRST_BEAT_MS - CHECK_MS)
  state.mark = 'b'
  await pass(CHECK_MS)
  state.mayStay = () => true
  await pass(CHECK_MS)
  await expect.poll(() => stream.text).toContain('data: changed')
})
