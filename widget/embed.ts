/** Whether a page of the store holds this one in a frame. Then the gateway says so in the document, with a token. */
import type { Frame, Said } from './frame.ts'

const meta = (): HTMLMetaElement | null => document.querySelector('meta[name="tradetill-embed"]')

export const isEmbedded = (): boolean => meta() !== null

/** document.cookie. A page in a frame has none: its token stands in the document. */
export function pageCookies(): string {
  const token = meta()?.content
  return token === undefined ? document.cookie : `csrf=${token}`
}

const HOUR_MS = 3_600_000

/** A token that ended is replaced with the document. One that is refused to a young document would be again. */
export function renewToken(): void {
  if (isEmbedded() && performance.now() > HOUR_MS) location.reload()
}

let joined: Promise<Frame> | undefined

/** Greets the page of the store. Nothing happens on a page that is in no frame. */
export function joinStore(): void {
  const origin = meta()?.dataset.origin
  if (origin === undefined) return
  joined ??= import('./frame.ts').then(({ joinParent }) => joinParent(window, origin))
}

/** Tells the page of the store. False where there is none. */
export function tellStore(said: Said): boolean {
  if (joined === undefined) return false
  void joined.then((frame) => frame.tell(said))
  return true
}
