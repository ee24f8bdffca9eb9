/** Notifies the page when the till's data change. A hidden page is notified once it is visible again. */
import { headersOf } from './call.ts'

type Listener = () => void

const listeners = new Set<Listener>()
/** The pause before another attempt to open a stream. It doubles after each failed attempt, up to the longest wait. */
const FIRST_WAIT_MS = 3_000
const LONGEST_WAIT_MS = 60_000
/** The line with which the server begins each stream. */
const FIRST_LINE = ': open'
/** Milliseconds for which changes are collected before the page shows them together. */
const GATHER_MS = 500
/**
 * How often the page reads its data again without a notice. The ages on the page grow, and some changes cause no notice,
 * such as an attempt of a webhook.
 */
const REFRESH_MS = 60_000

export function onChange(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/**
 * Runs until the signal aborts. Reconnects after a break, at growing intervals while no stream opens. The page then
 * hears of no change, so it reads its data again at each attempt.
 */
export async function follow(signal: AbortSignal): Promise<void> {
  document.addEventListener('visibilitychange', notifyVisible, { signal })
  const timer = setInterval(refresh, REFRESH_MS)
  signal.addEventListener('abort', () => clearInterval(timer))
  let waitMs = FIRST_WAIT_MS
  for (let isReconnect = false; !signal.aborted; isReconnect = true) {
    const wasOpen = await listen(signal, isReconnect).catch(() => false)
    if (wasOpen) waitMs = FIRST_WAIT_MS
    else if (isReconnect) gather()
    await pause(waitMs, signal)
    if (!wasOpen) waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)
  }
}

/** Resolves to true once an open stream has ended or broken, to false if none opened. Rejects if no answer comes. */
async function listen(signal: AbortSignal, isReconnect: boolean): Promise<boolean> {
  const response = await fetch('/ops/live', { method: 'POST', headers: headersOf(true), body: '{}', signal })
  if (!response.ok || response.body === null) return false
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let wasOpen = false
  for (let unfinishedLine = ''; ; ) {
    const chunk = await reader.read().catch(() => undefined)
    if (chunk === undefined || chunk.done) return wasOpen
    const lines = (unfinishedLine + chunk.value).split('\n')
    unfinishedLine = lines.pop() ?? ''
    if (lines.includes(FIRST_LINE)) wasOpen = true
    // The page may have missed a change before it was connected again.
    if (lines.some((line) => line.startsWith('data:') || (isReconnect && line === FIRST_LINE))) gather()
  }
}

let isGathering = false
/** True if the page must read its data again as soon as it is visible. */
let isOutdated = false

function gather(): void {
  if (isGathering) return
  isGathering = true
  setTimeout(() => {
    isGathering = false
    refresh()
  }, GATHER_MS)
}

function refresh(): void {
  isOutdated = true
  notifyVisible()
}

function notifyVisible(): void {
  if (!isOutdated || document.visibilityState !== 'visible') return
  isOutdated = false
  for (const listener of listeners) listener()
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
