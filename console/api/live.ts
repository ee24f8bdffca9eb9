/** Notifies the page of changes while it is visible. */
import { headersOf } from './call.ts'

type Listener = () => void

const listeners = new Set<Listener>()
const FIRST_WAIT_MS = 3_000
const LONGEST_WAIT_MS = 60_000
/** Milliseconds for which changes are collected before the page shows them together. */
const GATHER_MS = 500

export function onChange(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Runs until the signal aborts. Reconnects after a break, at growing intervals while that fails. */
export async function follow(signal: AbortSignal): Promise<void> {
  let waitMs = FIRST_WAIT_MS
  while (!signal.aborted) {
    const wasOpen = await listen(signal).catch(() => false)
    waitMs = wasOpen ? FIRST_WAIT_MS : Math.min(waitMs * 2, LONGEST_WAIT_MS)
    await pause(waitMs, signal)
  }
}

/** Resolves to true once an open connection has ended, or to false if none could be opened. */
async function listen(signal: AbortSignal): Promise<boolean> {
  const response = await fetch('/ops/live', { method: 'POST', headers: headersOf(true), body: '{}', signal })
  if (!response.ok || response.body === null) return false
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  for (let unfinishedLine = ''; ; ) {
    const { done, value } = await reader.read()
    if (done) return true
    const lines = (unfinishedLine + value).split('\n')
    unfinishedLine = lines.pop() ?? ''
    if (lines.some((line) => line.startsWith('data:'))) gather()
  }
}

let isGathering = false

function gather(): void {
  if (isGathering) return
  isGathering = true
  setTimeout(() => {
    isGathering = false
    if (document.visibilityState === 'visible') for (const listener of listeners) listener()
  }, GATHER_MS)
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
