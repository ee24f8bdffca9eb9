import { describe, expect, it } from 'vitest'
import { type FrameMessage, joinParent } from './frame.ts'

const STORE = 'https://store.example'
const STATUS: FrameMessage = {
  type: 'status',
  detail: { depositId: '7', status: 'pending' },
  question: 'Close?',
}
const LATER: FrameMessage = { ...STATUS, detail: { depositId: '7', status: 'succeeded' } }

type Listener = (event: object) => void

/** A page in a frame, and the messages to its parent. `receive` gives it the parent's greeting, with these changes. */
function joinedFrame() {
  const listeners = new Set<Listener>()
  const sent: unknown[][] = []
  const parent = { postMessage: (...message: unknown[]) => sent.push(message) }
  const document = { addEventListener: () => {}, getElementById: () => null }
  const target = {
    parent,
    document,
    addEventListener: (_type: string, listener: Listener) => listeners.add(listener),
    removeEventListener: (_type: string, listener: Listener) => listeners.delete(listener),
  }
  // Only the used part of a window, so these tests need no browser.
  const frame = joinParent(target as unknown as Window, STORE)
  const receive = (change: object) => {
    for (const listener of [...listeners])
      listener({ source: parent, origin: STORE, data: { tradetill: 1 }, ports: [], ...change })
  }
  return { frame, sent, receive }
}

function fakePort() {
  const received: unknown[] = []
  return { received, postMessage: (message: unknown) => received.push(message) }
}

describe('D-32 a page in a frame', () => {
  it('greets the origin that may show it, and sends nothing else to the parent window', () => {
    const { frame, sent } = joinedFrame()
    frame.send(STATUS)
    expect(sent).toEqual([[{ tradetill: 1 }, STORE]])
  })

  it('sends over the port that it received, beginning with the latest unsent message of each type', () => {
    const { frame, receive } = joinedFrame()
    frame.send(STATUS)
    frame.send(LATER)
    frame.send({ type: 'resize', detail: { height: 700 } })
    const port = fakePort()
    receive({ ports: [port] })
    expect(port.received).toEqual([LATER, { type: 'resize', detail: { height: 700 } }])
    frame.send({ type: 'escape' })
    expect(port.received.at(-1)).toEqual({ type: 'escape' })
  })

  it.each([
    ['from another origin', { origin: 'https://evil.example' }],
    ['from the store over plain http', { origin: 'http://store.example' }],
    ['from another frame of the store', { source: {} }],
    ['without a source window', { source: null }],
    ['of another version', { data: { tradetill: 2 } }],
    ['that is only a text', { data: 'tradetill' }],
    ['without data', { data: null }],
  ])('ignores the port of a message %s', (_what, change) => {
    const { frame, receive } = joinedFrame()
    frame.send(STATUS)
    const hostile = fakePort()
    receive({ ports: [hostile], ...change })
    frame.send(LATER)
    expect(hostile.received).toEqual([])
    const port = fakePort()
    receive({ ports: [port] })
    expect(port.received).toEqual([LATER])
  })

  it('keeps waiting if the parent’s greeting has no port', () => {
    const { frame, receive } = joinedFrame()
    receive({})
    frame.send(STATUS)
    const port = fakePort()
    receive({ ports: [port] })
    expect(port.received).toEqual([STATUS])
  })

  it('keeps its first port if the parent repeats its greeting', () => {
    const { frame, receive } = joinedFrame()
    const [first, second] = [fakePort(), fakePort()]
    receive({ ports: [first] })
    receive({ ports: [second] })
    frame.send(STATUS)
    expect([first.received, second.received]).toEqual([[STATUS], []])
  })
})
