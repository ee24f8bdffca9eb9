/**
 * The calls of the console. All are POSTs, because the server requires the page's origin, which browsers send with a
 * POST.
 */

/** `kind` is the server's kind of refusal, or a kind of the page's own, such as `offline` if there was no answer. */
export type Failure = { kind: string; message: string }
export type Reply<T> = { ok: true; data: T; message: string } | { ok: false; failure: Failure }

/**
 * The storage key of one half of the session's secret, which only this origin can read. The other half is an HttpOnly
 * cookie.
 */
const KEY = 'console-session'
const CALL_TIMEOUT_MS = 30_000

/**
 * The half that this page's calls send. Another tab can change the stored half to that of another operator, who must
 * not become the one who acts in this page.
 */
let half: string | null = null

/** Returns the stored half, which the page's calls send from now on. */
export function readSession(): string | null {
  half = localStorage.getItem(KEY)
  return half
}

export function keepSession(begun: string): void {
  half = begun
  localStorage.setItem(KEY, begun)
}

/** Forgets the session of this page. A session that another tab has begun since stays stored. */
export function forgetSession(): void {
  if (localStorage.getItem(KEY) === half) localStorage.removeItem(KEY)
  half = null
}

export const isOwnSession = (session: string): boolean => session === half

const NO_ANSWER: Failure = { kind: 'offline', message: 'The console does not answer. Check the connection.' }

export function headersOf(isWatching: boolean): Record<string, string> {
  return {
    'content-type': 'application/json',
    ...(half !== null && { 'x-console-session': half }),
    ...(isWatching && { 'x-console-watching': '1' }),
  }
}

type Listener = () => void
const signOutListeners = new Set<Listener>()

/** Adds a listener for calls that are refused because the session has ended. Returns a function that removes it. */
export function onSignedOut(listener: Listener): () => void {
  signOutListeners.add(listener)
  return () => signOutListeners.delete(listener)
}

/** Adds a listener for a session that another tab begins or ends. Returns a function that removes it. */
export function onOtherSession(listener: Listener): () => void {
  const onStorage = (): void => {
    if (localStorage.getItem(KEY) !== half) listener()
  }
  addEventListener('storage', onStorage)
  return () => removeEventListener('storage', onStorage)
}

/** `isWatching`: the page made the call without a person, so it does not keep the session alive. */
export async function call<T>(path: string, body: object = {}, isWatching = false): Promise<Reply<T>> {
  const sentHalf = half
  try {
    const response = await fetch(`/ops/${path}`, {
      method: 'POST',
      headers: headersOf(isWatching),
      body: JSON.stringify(body),
      cache: 'no-store',
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    })
    const answer = (await response.json()) as { data: T; message: string } | { error: Failure }
    if (!('error' in answer)) return { ok: true, ...answer }
    if (answer.error.kind === 'signed_out' && sentHalf === half) {
      forgetSession()
      for (const listener of signOutListeners) listener()
    }
    return { ok: false, failure: answer.error }
  } catch {
    return { ok: false, failure: NO_ANSWER }
  }
}
