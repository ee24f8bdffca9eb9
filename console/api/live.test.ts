import { expect, it, onTestFinished, vi } from 'vitest'
import { follow, onChange } from './live.ts'

const CHANGED = 'data: changed\n\n'

/** A page that follows changes. `send` sends a text over the open stream, and lets half a second pass. */
async function followingPage() {
  vi.useFakeTimers()
  const page = Object.assign(new EventTarget(), { visibilityState: 'visible' })
  const streams: ReadableStreamDefaultController<Uint8Array>[] = []
  const server = { isDown: false, refuse: undefined as (() => Response) | undefined, attempts: 0 }
  const openStream = async (): Promise<Response> => {
    server.attempts += 1
    if (server.isDown) throw new TypeError('Failed to fetch')
    if (server.refuse !== undefined) return server.refuse()
    return new Response(new ReadableStream<Uint8Array>({ start: (stream) => void streams.push(stream) }))
  }
  vi.stubGlobal('document', page)
  vi.stubGlobal('localStorage', { getItem: () => null })
  vi.stubGlobal('fetch', openStream)
  const listener = vi.fn()
  const removeListener = onChange(listener)
  const watching = new AbortController()
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)
  const following = follow(watching.signal)
  onTestFinished(async () => {
    watching.abort()
    streams.at(-1)?.close()
    await pass(3_000)
    await following
    removeListener()
    vi.unstubAllGlobals()
    vi.useRealTimers()
  })
  const send = async (text: string): Promise<void> => {
    streams.at(-1)?.enqueue(new TextEncoder().encode(text))
    await pass(500)
  }
  const become = (visibilityState: 'visible' | 'hidden'): void => {
    page.visibilityState = visibilityState
    page.dispatchEvent(new Event('visibilitychange'))
  }
  await pass(0)
  await send(': open\n\n')
  return { listener, send, pass, become, streams, server }
}

it('a visible page collects the changes of half a second and shows them together', async () => {
  const { listener, send } = await followingPage()
  expect(listener).not.toHaveBeenCalled()
  await send(CHANGED + CHANGED)
  expect(listener).toHaveBeenCalledTimes(1)
})

it('a hidden page shows a change once, when the page becomes visible', async () => {
  const { listener, send, pass, become } = await followingPage()
  become('hidden')
  await send(CHANGED)
  await pass(60_000)
  expect(listener).not.toHaveBeenCalled()
  become('visible')
  expect(listener).toHaveBeenCalledTimes(1)
  become('hidden')
  become('visible')
  expect(listener).toHaveBeenCalledTimes(1)
})

it('a page reads its data again each minute without a notice, as ages grow and not every change causes one', async () => {
  const { listener, pass, become } = await followingPage()
  await pass(59_000)
  expect(listener).not.toHaveBeenCalled()
  await pass(1_000)
  expect(listener).toHaveBeenCalledTimes(1)
  become('hidden')
  await pass(600_000)
  expect(listener).toHaveBeenCalledTimes(1)
  become('visible')
  expect(listener).toHaveBeenCalledTimes(2)
})

it('a page reads its data again when a stream reopens, because it may have missed a change', async () => {
  const { listener, send, pass, streams } = await followingPage()
  streams.at(-1)?.close()
  await pass(3_000)
  expect(streams).toHaveLength(2)
  expect(listener).not.toHaveBeenCalled()
  await send(': open\n\n')
  expect(listener).toHaveBeenCalledTimes(1)
})

it('a page whose stream broke opens another after three seconds, as it does after the end of a stream', async () => {
  const { pass, streams } = await followingPage()
  streams.at(-1)?.error(new Error('the connection was lost'))
  await pass(3_000)
  expect(streams).toHaveLength(2)
})

it('a page waits 3, 6 and 12 seconds after failed attempts to open a stream', async () => {
  const { pass, streams, server } = await followingPage()
  server.isDown = true
  streams.at(-1)?.close()
  await pass(3_000)
  const attemptsAfter = async (ms: number): Promise<number> => {
    await pass(ms)
    return server.attempts
  }
  expect([await attemptsAfter(2_999), await attemptsAfter(1)]).toEqual([2, 3])
  expect([await attemptsAfter(5_999), await attemptsAfter(1)]).toEqual([3, 4])
  server.isDown = false
  expect([await attemptsAfter(11_999), await attemptsAfter(1)]).toEqual([4, 5])
})

it.each([
  ['is refused', () => new Response('{}', { status: 429 })],
  ['ends before its first line', () => new Response('')],
])(
  'a page whose stream %s reads its data at each attempt, 3, 6 and 12 seconds apart',
  async (_what, refuse) => {
    const { listener, pass, streams, server } = await followingPage()
    server.refuse = refuse
    streams.at(-1)?.close()
    for (const [reads, waitMs] of [3_000, 2_500, 5_500].entries()) {
      await pass(waitMs)
      expect([server.attempts, listener.mock.calls.length]).toEqual([reads + 2, reads])
      await pass(500)
      expect(listener).toHaveBeenCalledTimes(reads + 1)
    }
    server.refuse = undefined
    await pass(11_500)
    expect([server.attempts, streams.length]).toEqual([5, 2])
  },
)
