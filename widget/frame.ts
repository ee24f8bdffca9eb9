/**
 * Tells the page of the store that holds this one in a frame. It only tells: nothing that comes from there changes
 * anything here. The gateway has named the one origin that may hold it.
 */
import type { DepositStatus } from '../contract/statuses.ts'

export type Said =
  /** `question` is asked before the frame is closed; empty where nothing is open. */
  | { type: 'status'; detail: { depositId: string; status: DepositStatus }; question: string }
  | { type: 'done'; detail: { depositId: string; status: DepositStatus; redirectUrl: string | null } }
  | { type: 'close'; detail: { url: string } }
  | { type: 'resize'; detail: { height: number } }
  | { type: 'escape' }

export type Frame = { tell(said: Said): void }

const VERSION = 1

/**
 * Greets the parent and waits for a port, over which all else goes. Only the first one counts, and only from the parent
 * itself: other frames of the same origin may send messages too.
 */
export function joinParent(target: Window, origin: string): Frame {
  let port: MessagePort | null = null
  const unsaid = new Map<Said['type'], Said>()
  const tell = (said: Said): void => {
    // The latest of each kind is all that the parent has missed.
    if (port === null) unsaid.set(said.type, said)
    else port.postMessage(said)
  }
  const hear = ({ source, origin: from, data, ports }: MessageEvent<unknown>): void => {
    const [given] = ports
    if (source !== target.parent || from !== origin || given === undefined || !isGreeting(data)) return
    target.removeEventListener('message', hear)
    port = given
    for (const said of unsaid.values()) given.postMessage(said)
    unsaid.clear()
  }
  target.addEventListener('message', hear)
  target.parent.postMessage({ tradetill: VERSION }, origin)
  watchLinks(target, tell)
  watchEscape(target, tell)
  watchHeight(target, tell)
  return { tell }
}

const isGreeting = (data: unknown): boolean =>
  typeof data === 'object' && data !== null && Reflect.get(data, 'tradetill') === VERSION

type Tell = Frame['tell']

/** A link to the store would open it inside of its own page. Links to Steam open in tabs of their own. */
function watchLinks(target: Window, tell: Tell): void {
  target.document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (link === null || link.target !== '' || !/^https?:$/.test(link.protocol)) return
    if (link.origin === target.location.origin) return
    event.preventDefault()
    tell({ type: 'close', detail: { url: link.href } })
  })
}

/** The parent does not hear the keys that are pressed in here. A dialog of ours has its own use for this one. */
function watchEscape(target: Window, tell: Tell): void {
  target.document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.defaultPrevented) return
    if (target.document.querySelector('dialog[open]') === null) tell({ type: 'escape' })
  })
}

function watchHeight({ document }: Window, tell: Tell): void {
  const root = document.getElementById('root')
  if (root === null) return
  let known = 0
  new ResizeObserver(() => {
    const height = Math.ceil(root.getBoundingClientRect().height)
    if (height === known) return
    known = height
    tell({ type: 'resize', detail: { height } })
  }).observe(root)
}
