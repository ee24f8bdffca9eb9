import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { call, forgetSession, keepSession, onSignedOut, readSession } from './call.ts'

const KEY = 'console-session'
/** The storage that the tabs of this browser share. */
let storage: Map<string, string>
/** The half of the session that each call has sent. */
let sent: (string | null)[]
let answer: () => Promise<object>

beforeEach(() => {
  storage = new Map([[KEY, 'half of ada']])
  sent = []
  answer = async () => ({ data: {}, message: '' })
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => storage.get(key) ?? null,
    setItem: (key: string, value: string) => storage.set(key, value),
    removeItem: (key: string) => storage.delete(key),
  })
  vi.stubGlobal('fetch', async (_path: string, { headers }: { headers: Record<string, string> }) => {
    sent.push(headers['x-console-session'] ?? null)
    return new Response(JSON.stringify(await answer()))
  })
  onTestFinished(() => void vi.unstubAllGlobals())
})

const SIGNED_OUT = { error: { kind: 'signed_out', message: 'You are signed out.' } }

it('a page acts in the session that it has read, not in one that began in another tab since', async () => {
  readSession()
  storage.set(KEY, 'half of bob')
  await call('act/bot-disarm')
  expect(sent).toEqual(['half of ada'])
  expect(readSession()).toBe('half of bob')
  await call('act/bot-disarm')
  expect(sent).toEqual(['half of ada', 'half of bob'])
})

it('a page whose session has ended forgets it, but leaves one that began in another tab', async () => {
  const listener = vi.fn()
  onTestFinished(onSignedOut(listener))
  answer = async () => SIGNED_OUT
  readSession()
  storage.set(KEY, 'half of bob')
  await call('find/bots')
  expect([listener.mock.calls.length, storage.get(KEY)]).toEqual([1, 'half of bob'])
  readSession()
  await call('find/bots')
  expect([listener.mock.calls.length, storage.has(KEY)]).toEqual([2, false])
})

it('a late refusal of an old session does not end the session that the page has begun since', async () => {
  const listener = vi.fn()
  onTestFinished(onSignedOut(listener))
  const refused = Promise.withResolvers<object>()
  answer = () => refused.promise
  readSession()
  const asked = call('find/bots')
  keepSession('half of bob')
  refused.resolve(SIGNED_OUT)
  await asked
  expect([listener.mock.calls.length, storage.get(KEY)]).toEqual([0, 'half of bob'])
  forgetSession()
  expect(storage.has(KEY)).toBe(false)
})
