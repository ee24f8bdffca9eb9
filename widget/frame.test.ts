import { describe, expect, it } from 'vitest'
import { type FrameMessage, joinParent } from './frame.ts'

const STORE = 'https://store.example'
const STATUS: FrameMessage = {
  type: 'status',
  detail: { depositId: '7', status: 'pending' },
  question: 'Close?',
}
const LATER: FrameMessage = { ...STATUS, detail: { depositId: '7', status: 'succeeded' } }

type Hear = (event: object) => void

/** A page in a frame, and the messages to its parent. */
function framed() {
  const heard = new Set<Hear>()
  const sent: unknown[][] = []
  const parent = { postMessage: (...message: unknown[]) => sent.push(message) }
  const document = { addEventListener: () => {}, getElementById: () => null }
  const target = {
    parent,
    document,
    addEventListener: (_type: string, hear: Hear) => heard.add(hear),
    removeEventListener: (_type: string, hear: Hear) => heard.delete(hear),
  }
  // Only the used part of a window, so these tests need no browser.
  const frame = joinParent(target as unknown as Window, STORE)
  const message = (facts: object) => {
    for (const hear of [...heard])
      hear({ source: parent, origin: STORE, data: { tradetill: 1 }, ports: [], ...facts })
  }
  return { frame, sent, message, parent }
}

function aPort() {
  const said: unknown[] = []
  return { said, postMessage: (what: unknown) => said.push(what) }
}

describe('D-32 a page in a frame', () => {
  it('greets the one origin that may show it, and sends nothing else to the window', () => {
    const { frame, sent } = framed()
    frame.send(STATUS)
    expect(sent).toEqual([[{ tradetill: 1 }, STORE]])
  })

  it('sends over the port it received, starting with the latest missed messages', () => {
    const { frame, message } = framed()
    frame.send(STATUS)
    frame.send(LATER)
    frame.send({ type: 'resize', detail: { height: 700 } })
    const port = aPort()
    message({ ports: [port] })
    expect(port.said).toEqual([LATER, { type: 'resize', detail: { height: 700 } }])
    frame.send({ type: 'escape' })
    expect(port.said.at(-1)).toEqual({ type: 'escape' })
  })

  it.each([
    ['another origin', { origin: 'https://evil.example' }],
    ['the store over plain http', { origin: 'http://store.example' }],
    ['another frame of the store', { source: {} }],
    ['no window', { source: null }],
    ['another version', { data: { tradetill: 2 } }],
    ['a text', { data: 'tradetill' }],
    ['nothing', { data: null }],
  ])('accepts no port from %s', (_who, facts) => {
    const { frame, message } = framed()
    frame.send(STATUS)
    const hostile = aPort()
    message({ ports: [hostile], ...facts })
    frame.send(LATER)
    expect(hostile.said).toEqual([])
    const port = aPort()
    message({ ports: [port] })
    expect(port.said).toEqual([LATER])
  })

  it('keeps waiting if an answer has no port', () => {
    const { frame, message } = framed()
    message({})
    frame.send(STATUS)
    const port = aPort()
    message({ ports: [port] })
    expect(port.said).toEqual([STATUS])
  })

  it('keeps its first port if the answer is repeated', () => {
    const { frame, message } = framed()
    const [first, second] = [aPort(), aPort()]
    message({ ports: [first] })
    message({ ports: [second] })
    frame.send(STATUS)
    expect([first.said, second.said]).toEqual([[STATUS], []])
  })
})
