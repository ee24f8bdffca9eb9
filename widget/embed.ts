/** True if a page of the store holds this one in a frame. The gateway then writes a token into the document. */
import type { Frame, Said } from './frame.ts'

const meta = (): HTMLMetaElement | null => document.querySelector('meta[name="tradetill-embed"]')

export const isEmbedded = (): boolean => meta() !== null

/** Returns document.cookie; in a frame, where there are no cookies, the token of the document in their form. */
export function pageCookies(): string {
  const token = meta()?.content
  return token === undefined ? document.cookie : `csrf=${token}`
}

const HOUR_MS = 3_600_000

/**
 * Reloads the document for a new token, but only an old document: the server would refuse a fresh one's token again.
 */
export function renewToken(): void {
  if (isEmbedded() && performance.now() > HOUR_MS) location.reload()
}

let joined: Promise<Frame> | undefined

/** Greets the page of the store; does nothing outside a frame. */
export function joinStore(): void {
  const origin = meta()?.dataset.origin
  if (origin === undefined) return
  joined ??= import('./frame.ts').then(({ joinParent }) => joinParent(window, origin))
}

/** Sends a message to the page of the store. Returns false outside a frame. */
export function tellStore(said: Said): boolean {
  if (joined === undefined) return false
  void joined.then((frame) => frame.tell(said))
  return true
}
