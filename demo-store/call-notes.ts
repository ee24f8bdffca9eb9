/** Notes of the latest calls and webhooks between the store and its till. A drawer of the store's page shows them. */

export type Note = {
  number: number
  /** Milliseconds since 1970. */
  atMs: number
  from: 'store' | 'till'
  what: string
  outcome: string
  isGood: boolean
  /** The request with its answer, or the webhook, as JSON without secrets, cut after `MOST_CHARACTERS`. */
  content: string
}

const MOST_KEPT = 40
const MOST_CHARACTERS = 6_000

export type CallNotes = ReturnType<typeof openCallNotes>

export function openCallNotes() {
  const notes: Note[] = []
  let number = 0
  const add = ({
    content,
    ...facts
  }: Omit<Note, 'number' | 'atMs' | 'content'> & { content: unknown }): void => {
    number += 1
    notes.unshift({ number, atMs: Date.now(), ...facts, content: textOf(content) })
    notes.splice(MOST_KEPT)
  }
  return {
    add,
    /** Newest first. */
    all: (): readonly Note[] => notes,
    /** A fetch function that notes the calls of the till's client. */
    async fetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
      const address = new URL(input instanceof Request ? input.url : input)
      const what = `${init.method ?? 'GET'} ${address.pathname}`
      const body = typeof init.body === 'string' ? JSON.parse(init.body) : undefined
      try {
        const response = await fetch(input, init)
        const answer: unknown = await response
          .clone()
          .json()
          .catch(() => undefined)
        const isGood = response.ok
        if (!(isGood && isEmptyPage(answer))) {
          const content = { request: body, answer }
          add({ from: 'store', what, outcome: String(response.status), isGood, content })
        }
        return response
      } catch (error) {
        add({ from: 'store', what, outcome: 'no answer', isGood: false, content: { request: body } })
        throw error
      }
    },
  }
}

/** True for a page of the event log without events. The store reads the log every minute, so such pages are not noted. */
const isEmptyPage = (answer: unknown): boolean => {
  const events: unknown = typeof answer === 'object' && answer !== null && Reflect.get(answer, 'events')
  return Array.isArray(events) && events.length === 0
}

/** Shortens secrets: anyone can open a deposit or its receipt by its link, and a trade link contains a token. */
function textOf(content: unknown): string {
  const json = JSON.stringify(content, undefined, 2)
    .replace(/\/deposit\/[0-9a-f]{4}[0-9a-f]{28}/g, (link) => `${link.slice(0, 13)}…`)
    .replace(/\/receipt\/\d{1,18}-[0-9a-f]{32}/g, (link) => `${link.slice(0, -28)}…`)
    .replace(/token=[\w-]+/g, 'token=…')
  return json.length > MOST_CHARACTERS ? `${json.slice(0, MOST_CHARACTERS)}…` : json
}
