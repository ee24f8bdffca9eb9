/**
 * Sends messages to the store's page that shows this page in a frame. No message from there changes this page. The
 * gateway names the one origin that may show it.
 */
import type { DepositStatus } from '../contract/statuses.ts'

export type Said =
  /** `question` is the question to ask before closing the frame; empty if no offer would be left open. */
  | { type: 'status'; detail: { depositId: string; status: DepositStatus }; question: string }
  | { type: 'done'; detail: { depositId: string; status: DepositStatus; redirectUrl: string | null } }
  | { type: 'close'; detail: { url: string } }
  | { type: 'resize'; detail: { height: number } }
  | { type: 'escape' }

export type Frame = { tell(said: Said): void }

const VERSION = 1

/**
 * Greets the parent and waits for a port to send all messages over. Accepts only the first port, and only from the
 * parent itself: other frames of the same origin can send messages too.
 */
export function joinParent(target: Window, origin: string): Frame {
  let port: MessagePort | null = null
  const unsaid = new Map<Said['type'], Said>()
  const tell = (said: Said): void => {
    // Keep the latest message of each kind for the parent.
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

/** Lets the parent follow links to the store: here they would open the store inside its own page. */
function watchLinks(target: Window, tell: Tell): void {
  target.document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (link === null || link.target !== '' || !/^https?:$/.test(link.protocol)) return
    if (link.origin === target.location.origin) return
    event.preventDefault()
    tell({ type: 'close', detail: { url: link.href } })
  })
}

/** Reports Escape to the parent, which does not see keys pressed in the frame. Our own open dialog keeps it. */
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
