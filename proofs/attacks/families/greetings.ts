/**
 * Pages that try to receive a deposit's messages to its store: family 59. A deposit in a frame greets its store's page.
 * The page answers with a greeting and a port, and the deposit sends its messages to that port.
 */
import { z } from 'zod'
import { type Case, type Family, family } from '../attack.ts'
import { problemIf } from './checks.ts'

const FRAME = 'widget/frame.ts'
const STORE = 'https://store.example'
const GREETING = { tradetill: 1 }

type Defence =
  | 'a greeting to one origin'
  | 'the store’s origin only'
  | 'the parent window only'
  | 'the exact greeting only'
  | 'the first port only'

const messageSchema = z.looseObject({ type: z.string() })
const frameSchema = z.object({
  send: z.custom<(received: object) => void>((value) => typeof value === 'function'),
})
const moduleSchema = z.object({
  joinParent: z.custom<(target: object, origin: string) => unknown>((value) => typeof value === 'function'),
})

/** Imports the browser's code by its URL, because TypeScript checks this folder without a browser's types. */
const loadJoinParent = async () =>
  moduleSchema.parse(await import(new URL('../../../widget/frame.ts', import.meta.url).href)).joinParent

/**
 * Simulates a page in a frame. `sent`: its messages to its parent. `deliver` gives the page a port and the store's
 * greeting with these changes, and returns a list that collects everything that the page sends to that port.
 */
async function openFrame() {
  const listeners = new Set<(event: object) => void>()
  const sent: unknown[][] = []
  const parent = { postMessage: (...message: unknown[]) => sent.push(message) }
  const target = {
    parent,
    document: { addEventListener: () => {}, getElementById: () => null },
    addEventListener: (_type: string, listener: (event: object) => void) => listeners.add(listener),
    removeEventListener: (_type: string, listener: (event: object) => void) => listeners.delete(listener),
  }
  const joinParent = await loadJoinParent()
  const { send } = frameSchema.parse(joinParent(target, STORE))
  const deliver = (changes: object): unknown[] => {
    const received: unknown[] = []
    const ports = [{ postMessage: (data: unknown) => received.push(messageSchema.parse(data)) }]
    for (const listener of [...listeners])
      listener({ source: parent, origin: STORE, data: GREETING, ports, ...changes })
    return received
  }
  return { sent, send: () => send({ type: 'status', detail: { depositId: '7' } }), deliver }
}

const ORIGINS = [
  'https://evil.example',
  'http://store.example',
  'https://store.example:444',
  'null',
  '',
  'https://store.example.evil.example',
  'https://www.store.example',
  'https://store.example/',
  'file://',
]
const SOURCES: Record<string, object | null> = {
  'another frame of the store': {},
  'no window': null,
  'a window that looks like the parent': { postMessage: () => {} },
}
const GREETINGS = [
  ...[null, undefined, 'tradetill', 1, [], {}, { tradetill: 2 }, { tradetill: '1' }, { Tradetill: 1 }],
  { data: { tradetill: 1 } },
  JSON.stringify(GREETING),
]

const eavesdropping = (stoppedBy: Defence, what: string, changes: object): Case<Defence> => ({
  what,
  stoppedBy,
  async attack() {
    const { deliver, send } = await openFrame()
    const received = deliver(changes)
    send()
    return problemIf(received.length > 0, 'receives the deposit’s messages')
  },
})

const replacing = (data: object): Case<Defence> => ({
  what: `a second port, with ${JSON.stringify(data)}`,
  stoppedBy: 'the first port only',
  async attack() {
    const { deliver, send } = await openFrame()
    deliver({})
    const received = deliver({ data })
    send()
    return problemIf(received.length > 0, 'takes the place of the first')
  },
})

const misdirected: Case<Defence> = {
  what: 'another page in place of the store’s',
  stoppedBy: 'a greeting to one origin',
  async attack() {
    const { sent } = await openFrame()
    return problemIf(
      sent.some(([, to]) => to !== STORE),
      'receives the greeting',
    )
  },
}

export const greetings: Family = family<Defence>({
  number: 59,
  name: 'greetings between a frame and its store',
  kind: 'parts',
  defences: {
    'a greeting to one origin': {
      at: `${FRAME} joinParent`,
      off: [{ file: FRAME, from: '{ tradetill: VERSION }, origin)', to: "{ tradetill: VERSION }, '*')" }],
    },
    'the store’s origin only': {
      at: `${FRAME} joinParent`,
      off: [{ file: FRAME, from: 'senderOrigin !== origin || ', to: '' }],
    },
    'the parent window only': {
      at: `${FRAME} joinParent`,
      off: [{ file: FRAME, from: 'source !== target.parent || ', to: '' }],
    },
    'the exact greeting only': {
      at: `${FRAME} joinParent`,
      off: [{ file: FRAME, from: ' || !isGreeting(data)', to: '' }],
    },
    'the first port only': {
      at: `${FRAME} joinParent`,
      off: [
        {
          file: FRAME,
          from: "target.removeEventListener('message', receive)\n    port = firstPort",
          to: 'port = firstPort',
        },
      ],
    },
  },
  async honest() {
    const { deliver, send } = await openFrame()
    send()
    return problemIf(deliver({}).length !== 1, 'the store receives nothing')
  },
  cases: () => [
    ...ORIGINS.map((origin) => eavesdropping('the store’s origin only', `a page of ${origin}`, { origin })),
    ...Object.entries(SOURCES).map(([what, source]) =>
      eavesdropping('the parent window only', what, { source }),
    ),
    ...GREETINGS.map((data) =>
      eavesdropping('the exact greeting only', `a greeting of ${JSON.stringify(data)}`, { data }),
    ),
    ...[GREETING, { ...GREETING, more: 1 }].map(replacing),
    misdirected,
  ],
})
