/** The latest calls and webhooks between the store and its till, for the drawer on the store's page. */

export type Note = {
  number: number
  /** Milliseconds since 1970. */
  at: number
  from: 'store' | 'till'
  what: string
  outcome: string
  isGood: boolean
  /** JSON, with links shortened. */
  said: string
}

const MOST_KEPT = 40
const MOST_CHARACTERS = 6_000

export type Seen = ReturnType<typeof openSeen>

export function openSeen() {
  const notes: Note[] = []
  let number = 0
  const note = ({ said, ...facts }: Omit<Note, 'number' | 'at' | 'said'> & { said: unknown }): void => {
    number += 1
    notes.unshift({ number, at: Date.now(), ...facts, said: textOf(said) })
    notes.splice(MOST_KEPT)
  }
  return {
    note,
    /** Newest first. */
    all: (): readonly Note[] => notes,
    /** A fetch function for the client of the till, which records each call and its answer. */
    async fetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
      const address = new URL(input instanceof Request ? input.url : input)
      const what = `${init.method ?? 'GET'} ${address.pathname}`
      const asked = typeof init.body === 'string' ? JSON.parse(init.body) : undefined
      try {
        const answer = await fetch(input, init)
        const answered: unknown = await answer
          .clone()
          .json()
          .catch(() => undefined)
        const isGood = answer.ok
        if (!(isGood && isEmptyPage(answered)))
          note({ from: 'store', what, outcome: String(answer.status), isGood, said: { asked, answered } })
        return answer
      } catch (error) {
        note({ from: 'store', what, outcome: 'no answer', isGood: false, said: { asked } })
        throw error
      }
    },
  }
}

/** True for a page of the log without events, as in most minutes. */
const isEmptyPage = (answered: unknown): boolean => {
  const events: unknown = typeof answered === 'object' && answered !== null && Reflect.get(answered, 'events')
  return Array.isArray(events) && events.length === 0
}

/** Returns the note's text with links cut: those of a deposit and its receipt open it, and a trade link has a token. */
function textOf(said: unknown): string {
  const json = JSON.stringify(said, undefined, 2)
    .replace(/\/deposit\/[0-9a-f]{4}[0-9a-f]{28}/g, (link) => `${link.slice(0, 13)}…`)
    .replace(/\/receipt\/\d{1,18}-[0-9a-f]{32}/g, (link) => `${link.slice(0, -28)}…`)
    .replace(/token=[\w-]+/g, 'token=…')
  return json.length > MOST_CHARACTERS ? `${json.slice(0, MOST_CHARACTERS)}…` : json
}
