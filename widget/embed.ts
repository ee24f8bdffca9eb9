/** A deposit's page in a frame of the store's page. The gateway writes a cross-site token into such a page. */
import type { Frame, FrameMessage } from './frame.ts'

const meta = (): HTMLMetaElement | null => document.querySelector('meta[name="tradetill-embed"]')

export const isEmbedded = (): boolean => meta() !== null

/** Returns document.cookie, or in a frame, which has no cookies, the document's token in the form of a cookie. */
export function pageCookies(): string {
  const token = meta()?.content
  return token === undefined ? document.cookie : `csrf=${token}`
}

/** A token lasts for more than a day, so one that is refused in a document younger than this has not expired. */
const MIN_AGE_MS = 3_600_000

/** In a frame, reloads an old document to get a new token. A reload would not help a young one. */
export function renewToken(): void {
  if (isEmbedded() && performance.now() > MIN_AGE_MS) location.reload()
}

let joined: Promise<Frame> | undefined

/** Greets the store's page. Does nothing outside a frame. */
export function joinStore(): void {
  const origin = meta()?.dataset.origin
  if (origin === undefined) return
  joined ??= import('./frame.ts').then(({ joinParent }) => joinParent(window, origin))
}

/** Sends a message to the store's page. Returns false outside a frame. */
export function sendToStore(message: FrameMessage): boolean {
  if (joined === undefined) return false
  void joined.then((frame) => frame.send(message))
  return true
}
