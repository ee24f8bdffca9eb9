/** Forwards a store's event log to its developer's address, as signed webhooks in the order of the log. */
import { z } from 'zod'
import type { Clock } from '../kit/clock.ts'
import { signWebhook } from '../webhooks/signature.ts'

export type Forwarding = {
  /** Address of the till whose log is read, such as `https://pay.example`. */
  till: URL
  apiKey: string
  /** Address that receives the events. */
  to: URL
  secret: string
  /** Events up to this `sequence` are left out. */
  after: number
  /** Stops at the end of the log instead of waiting for more. */
  once: boolean
  signal?: AbortSignal | undefined
}

export type ForwardDeps = {
  clock: Clock
  wait(ms: number, signal: AbortSignal | undefined): Promise<void>
  /** Called after each attempt to send an event. */
  onTry(event: LoggedEvent, answer: string): void
}

/**
 * `sequence`: that of the last accepted event, or `after` if none was accepted. `refused`: the till refused the call,
 * for example because of a wrong key. `unreachable`: it gave no answer, or one that asks to try later.
 */
export type ForwardResult =
  | { kind: 'ended'; sequence: number; sent: number }
  | { kind: 'unreachable' | 'refused'; sequence: number; sent: number; reason: string }

const DEADLINE_MS = 15_000
const POLL_MS = 1_000
const MOST_PAUSE_MS = 30_000
const PAGE_SIZE = 100

/** The till may be newer than this command. Its new types, fields and values must reach the developer unchanged. */
const eventSchema = z.looseObject({ id: z.string(), type: z.string(), sequence: z.int().positive() })
const pageSchema = z.object({ events: z.array(eventSchema), hasMore: z.boolean() })

type LoggedEvent = z.infer<typeof eventSchema>
const problemSchema = z.object({ code: z.string(), detail: z.string() })

/**
 * Sends each event until the answer is 2xx, then the next one. The cursor moves only then, so a run that starts where
 * another ended misses nothing.
 */
export async function forwardEvents(deps: ForwardDeps, forwarding: Forwarding): Promise<ForwardResult> {
  const { signal, once } = forwarding
  let sequence = forwarding.after
  let sent = 0
  let failures = 0
  let wasReached = false
  while (signal?.aborted !== true) {
    const page = await readPage(forwarding, sequence)
    if (page.kind === 'refused') return { ...page, sequence, sent }
    if (page.kind !== 'page') {
      // A wrong address fails the first attempt. Later failures are retried, because a restarting till comes back.
      if (!wasReached) return { ...page, sequence, sent }
      failures += 1
      await deps.wait(pauseMs(failures), signal)
      continue
    }
    wasReached = true
    failures = 0
    for (const event of page.events) {
      if (!(await sendUntilAccepted(deps, forwarding, event))) return { kind: 'ended', sequence, sent }
      sequence = event.sequence
      sent += 1
    }
    if (page.hasMore) continue
    if (once) break
    await deps.wait(POLL_MS, signal)
  }
  return { kind: 'ended', sequence, sent }
}

const pauseMs = (failures: number): number => Math.min(POLL_MS * 2 ** (failures - 1), MOST_PAUSE_MS)

type Page =
  | { kind: 'page'; events: LoggedEvent[]; hasMore: boolean }
  | { kind: 'unreachable' | 'refused'; reason: string }

async function readPage({ till, apiKey, signal }: Forwarding, after: number): Promise<Page> {
  const url = `${till.origin}/v1/events?after=${after}&limit=${PAGE_SIZE}`
  try {
    const headers = { authorization: `Bearer ${apiKey}` }
    const answer = await fetch(url, { headers, redirect: 'error', signal: deadline(signal) })
    const body: unknown = await answer.json()
    if (answer.ok) return { kind: 'page', ...pageSchema.parse(body) }
    const { code, detail } = problemSchema.parse(body)
    const isTemporary = answer.status >= 500 || answer.status === 429
    return { kind: isTemporary ? 'unreachable' : 'refused', reason: `${code}: ${detail}` }
  } catch (error) {
    return {
      kind: 'unreachable',
      reason: `${till.origin} cannot be reached, or its answer cannot be read: ${codeOrMessage(error)}`,
    }
  }
}

/** Resolves to false if `signal` aborts before the event is accepted. */
async function sendUntilAccepted(
  { clock, wait, onTry }: ForwardDeps,
  { to, secret, signal }: Forwarding,
  event: LoggedEvent,
): Promise<boolean> {
  const body = JSON.stringify(event)
  for (let tries = 1; signal?.aborted !== true; tries += 1) {
    const signed = signWebhook([secret], { id: event.id, body, at: clock.now() })
    const headers = { ...signed, 'content-type': 'application/json' }
    const answer = await post(to, { headers, body, signal: deadline(signal) })
    onTry(event, answer.text)
    if (answer.isAccepted) return true
    await wait(pauseMs(tries), signal)
  }
  return false
}

async function post(to: URL, init: RequestInit): Promise<{ text: string; isAccepted: boolean }> {
  try {
    const answer = await fetch(to, { method: 'POST', redirect: 'manual', ...init })
    await answer.body?.cancel()
    return { text: String(answer.status), isAccepted: answer.ok }
  } catch (error) {
    return { text: `no answer (${codeOrMessage(error)})`, isAccepted: false }
  }
}

const deadline = (signal: AbortSignal | undefined): AbortSignal =>
  signal === undefined
    ? AbortSignal.timeout(DEADLINE_MS)
    : AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)])

/** Returns the code of the error's cause, or its message if it has no code. A failed fetch wraps its cause. */
function codeOrMessage(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return 'unknown error'
  return 'code' in cause ? String(cause.code) : cause.message
}
