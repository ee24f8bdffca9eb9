/** The flow on a fake clock, with a server that the test defines. */
import { onTestFinished, vi } from 'vitest'
import type { Payment } from '../../contract/widget-api.ts'
import { wait } from '../wait.ts'
import { createApi } from './api.ts'
import type { Effect } from './events.ts'
import { propose } from './pick.ts'
import { startFlow } from './runner.ts'
import type { FlowState } from './state.ts'
import { inventory, item, opening, payment, toggle } from './test-states.ts'

/** `path` includes the query. */
export type Call = { path: string; method: string; headers: Headers; body: unknown; signal: AbortSignal }
export type Reply = Response | Promise<Response>

export const json = (body: unknown, init: ResponseInit = {}): Response => Response.json(body, init)
export const etagged = (body: Payment, etag: string): Response => json(body, { headers: { etag } })
export const problem = (status: number, code: string): Response => json({ code, detail: code }, { status })
export const pending = (): Payment => payment({ status: 'pending', timeLeft: 300 })

/** Answers by path. `times` counts the calls to the path, including this one. */
type Server = Record<string, ((call: Call, times: number) => Reply) | undefined>

const pathOf = (address: string): string => address.split('?')[0] ?? ''

/** Starts a flow on a fake clock, with this server. The flow stops with the test. */
export function start(server: Server, initial: FlowState = opening()) {
  vi.useFakeTimers()
  const calls: Call[] = []
  const effects: Effect[] = []
  const callsTo = (path: string): Call[] => calls.filter((call) => pathOf(call.path) === path)
  const fetcher: typeof fetch = async (input, init) => {
    const path = pathOf(String(input))
    const call: Call = {
      path: String(input),
      method: init?.method ?? 'GET',
      headers: new Headers(init?.headers),
      body: typeof init?.body === 'string' ? JSON.parse(init.body) : undefined,
      signal: init?.signal ?? new AbortController().signal,
    }
    calls.push(call)
    const answer = server[path]
    if (answer === undefined) throw new TypeError(`no answer for ${path}`)
    return answer(call, callsTo(path).length)
  }
  const flow = startFlow(initial, {
    api: createApi(fetcher, () => 'csrf=token'),
    now: () => performance.now(),
    wait,
    perform: (effect) => effects.push(effect),
    proposer: () => propose,
  })
  onTestFinished(() => {
    flow.stop()
    vi.useRealTimers()
  })
  return { flow, calls, effects, callsTo, pass: (ms: number) => vi.advanceTimersByTimeAsync(ms) }
}

export const withoutUser = (): Payment => payment({ user: null })

/** The answers of a deposit whose user is known and has two items. */
export const answers: Server = {
  '/api/payment': () => json(payment()),
  '/api/inventory': () => json(inventory([item('1'), item('2')])),
}

/** Returns the page with two items picked and Add funds pressed. */
export async function payItems(server: Server) {
  const page = start({ ...answers, ...server })
  await page.pass(0)
  for (const id of ['1', '2']) page.flow.dispatch(toggle(id))
  page.flow.dispatch({ kind: 'payPressed' })
  await page.pass(0)
  return page
}

/** A reply that arrives when the test calls `answer`. */
export function delayedReply(): { reply: Promise<Response>; answer: (response: Response) => void } {
  const { promise, resolve } = Promise.withResolvers<Response>()
  return { reply: promise, answer: resolve }
}

/** Never answers; fails when aborted. */
export const hangs = ({ signal }: Call): Promise<Response> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
