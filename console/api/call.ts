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

export const readSession = (): string | null => localStorage.getItem(KEY)
export const keepSession = (half: string): void => localStorage.setItem(KEY, half)
export const forgetSession = (): void => localStorage.removeItem(KEY)

const NO_ANSWER: Failure = { kind: 'offline', message: 'The console does not answer. Check the connection.' }

export function headersOf(isWatching: boolean): Record<string, string> {
  const session = readSession()
  return {
    'content-type': 'application/json',
    ...(session !== null && { 'x-console-session': session }),
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

/** `isWatching`: the page made the call without a person, so it does not keep the session alive. */
export async function call<T>(path: string, body: object = {}, isWatching = false): Promise<Reply<T>> {
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
    if (answer.error.kind === 'signed_out') for (const listener of signOutListeners) listener()
    return { ok: false, failure: answer.error }
  } catch {
    return { ok: false, failure: NO_ANSWER }
  }
}
