import type { Incoming, Reply } from '../http.ts'

/**
 * A change to a request's answer. `hang`: no answer. `drop`: the connection breaks. Either can happen before or after
 * Steam processes the request.
 */
export type Effect = {
  status?: number
  body?: unknown
  headers?: Record<string, string>
  hang?: 'before' | 'after'
  drop?: 'before' | 'after'
  /** Changes the answer that Steam would give. */
  change?: (reply: Reply, request: Incoming) => Reply
}

/**
 * A fault of Steam that can be switched on by name. `line`: its description on the page. `at`: the affected requests,
 * as "METHOD host/path". `when`: a further condition on them.
 */
export type BadDay = {
  line: string
  at: RegExp
  when?: (request: Incoming, nowS: number) => boolean
  effect: Effect
  delayMs?: number
  /** The fault ends after this many requests, unless it was switched on with another number. */
  times?: number
  /** The fault ends after this many seconds. */
  forS?: number
}

export const ERROR_PAGE =
  '<html><head><title>Steam Community :: Error</title></head><body><h1>Sorry!</h1><h3>An error occurred.</h3></body></html>'
export const DENIED_PAGE =
  '<html><head><title>Forbidden</title></head><body><h1>Forbidden</h1>Access is denied.</body></html>'

/** The page of the network in front of Steam, which lets no request of a blocked address through. */
export const BLOCKED_PAGE =
  '<HTML><HEAD>\n<TITLE>Access Denied</TITLE>\n</HEAD><BODY>\n<H1>Access Denied</H1>\n \nYou don\'t have permission to access "http&#58;&#47;&#47;steamcommunity&#46;com&#47;" on this server.<P>\nReference&#32;&#35;18&#46;0\n</BODY>\n</HTML>\n'

/** Redirects to the login page, as for a caller without a session. */
export const SIGN_IN: Effect = {
  status: 302,
  body: '',
  headers: { location: 'https://steamcommunity.com/login/home/' },
}

/** An effect that changes the JSON of a successful answer. */
export function changedJson(change: (body: unknown, request: Incoming) => unknown): Effect {
  return {
    change(reply, request) {
      if (reply.status !== 200) return reply
      return { ...reply, body: JSON.stringify(change(JSON.parse(String(reply.body)), request)) }
    },
  }
}

export type Row = Record<string, unknown>

export function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function rowsOf(value: unknown): Row[] {
  return Array.isArray(value) ? value.filter(isRow) : []
}
