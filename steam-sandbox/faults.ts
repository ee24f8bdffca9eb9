import type { Incoming, Reply } from './exchange.ts'

type Effect = {
  status?: number
  body?: unknown
  headers?: Record<string, string>
  hang?: 'before' | 'after'
  drop?: 'before' | 'after'
}

/** A bad day: the next `times` requests of Steam that match get this effect. `path` is the beginning of a path. */
export type Fault = { match: { host?: string; path: string }; times: number; effect: Effect; delayMs: number }

export type Faults = ReturnType<typeof createFaults>

/** The list of faults that wait for their requests; the first that matches is used up. */
export function createFaults() {
  let waiting: Fault[] = []
  return {
    add(fault: Fault) {
      waiting = [...waiting, fault]
    },
    clear() {
      waiting = []
    },
    /** The fault of this request; counts it. Requests to the sandbox's own pages never fail on purpose. */
    take(request: Incoming): Fault | undefined {
      const fault = waiting.find(
        ({ match }) =>
          !request.own &&
          request.path.startsWith(match.path) &&
          (match.host === undefined || match.host === request.host),
      )
      if (!fault) return undefined
      waiting = waiting.flatMap((other) => {
        if (other !== fault) return [other]
        return fault.times > 1 ? [{ ...fault, times: fault.times - 1 }] : []
      })
      return fault
    },
  }
}

/** The answer that a fault gives in place of Steam's, if it gives one. */
export function replyOf({ effect }: Fault): Reply | undefined {
  if (effect.status === undefined && effect.body === undefined) return undefined
  const html = typeof effect.body === 'string'
  return {
    status: effect.status ?? 200,
    headers: { 'content-type': html ? 'text/html' : 'application/json', ...effect.headers },
    body: html ? String(effect.body) : JSON.stringify(effect.body ?? null),
  }
}

/** Reads a fault from the control API; undefined if it is none. */
export function parseFault(value: unknown): Fault | undefined {
  if (!isRecord(value) || !isRecord(value.match) || typeof value.match.path !== 'string') return undefined
  const { host, path } = value.match
  const effect = isRecord(value.effect) ? value.effect : {}
  return {
    match: { path, ...(typeof host === 'string' ? { host } : {}) },
    times: typeof value.times === 'number' ? value.times : 1,
    effect: {
      ...(typeof effect.status === 'number' ? { status: effect.status } : {}),
      ...('body' in effect ? { body: effect.body } : {}),
      ...(isRecord(effect.headers) ? { headers: stringsOf(effect.headers) } : {}),
      ...(isMoment(effect.hang) ? { hang: effect.hang } : {}),
      ...(isMoment(effect.drop) ? { drop: effect.drop } : {}),
    },
    delayMs: typeof value.delayMs === 'number' ? Math.min(value.delayMs, 60_000) : 0,
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function isMoment(value: unknown): value is 'before' | 'after' {
  return value === 'before' || value === 'after'
}

function stringsOf(value: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, String(entry)]))
}
