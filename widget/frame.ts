/**
 * Sends messages to the store's page that shows this page in a frame. No message from that page changes this one. The
 * gateway decides which single origin may show this page.
 */
import type { DepositStatus } from '../contract/statuses.ts'

/** The types are public: docs/store-guide.md explains the events that the store gets from them. */
export type FrameMessage =
  /** `question` is the question to ask before closing the frame; empty if no offer would be left open. */
  | { type: 'status'; detail: { depositId: string; status: DepositStatus }; question: string }
  /** The deposit has succeeded. The store's page may go to `redirectUrl`; null if the deposit has none. */
  | { type: 'done'; detail: { depositId: string; status: DepositStatus; redirectUrl: string | null } }
  /** The shopper pressed a link that would lead the frame away from the till. */
  | { type: 'close'; detail: { url: string } }
  /** The height of the page's content, in CSS pixels. */
  | { type: 'resize'; detail: { height: number } }
  /** Escape was pressed, and had no effect here. */
  | { type: 'escape' }

export type Frame = { send(message: FrameMessage): void }

const VERSION = 1

/**
 * Greets the parent and waits for a port to send all messages over. Accepts only the first port, and only from the
 * parent itself: other frames of the same origin can send messages too.
 */
export function joinParent(target: Window, origin: string): Frame {
  let port: MessagePort | null = null
  const unsent = new Map<FrameMessage['type'], FrameMessage>()
  const send = (message: FrameMessage): void => {
    // Keep the latest message of each kind for the parent.
    if (port === null) unsent.set(message.type, message)
    else port.postMessage(message)
  }
  const receive = ({ source, origin: senderOrigin, data, ports }: MessageEvent<unknown>): void => {
    const [firstPort] = ports
    if (source !== target.parent || senderOrigin !== origin || firstPort === undefined || !isGreeting(data))
      return
    target.removeEventListener('message', receive)
    port = firstPort
    for (const message of unsent.values()) firstPort.postMessage(message)
    unsent.clear()
  }
  target.addEventListener('message', receive)
  target.parent.postMessage({ tradetill: VERSION }, origin)
  watchLinks(target, send)
  watchEscape(target, send)
  watchHeight(target, send)
  return { send }
}

const isGreeting = (data: unknown): boolean =>
  typeof data === 'object' && data !== null && Reflect.get(data, 'tradetill') === VERSION

type Send = Frame['send']

/** Lets the parent follow links that leave the till: in the frame, the store would open inside its own page. */
function watchLinks(target: Window, send: Send): void {
  target.document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (link === null || link.target !== '' || !/^https?:$/.test(link.protocol)) return
    if (link.origin === target.location.origin) return
    event.preventDefault()
    send({ type: 'close', detail: { url: link.href } })
  })
}

/**
 * Reports Escape to the parent, which does not see keys pressed in the frame. While a dialog or popover is open here,
 * Escape closes that instead.
 */
function watchEscape(target: Window, send: Send): void {
  target.document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.defaultPrevented) return
    if (target.document.querySelector('dialog[open], :popover-open') === null) send({ type: 'escape' })
  })
}

function watchHeight({ document }: Window, send: Send): void {
  const root = document.getElementById('root')
  if (root === null) return
  let lastHeight = 0
  new ResizeObserver(() => {
    const height = Math.ceil(root.getBoundingClientRect().height)
    if (height === lastHeight) return
    lastHeight = height
    send({ type: 'resize', detail: { height } })
  }).observe(root)
}
