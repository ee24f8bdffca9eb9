import { BAD_DAYS } from './bad-days/bad-days.ts'
import type { BadDay, Effect } from './bad-days/day.ts'
import { field, type Incoming, type Reply } from './http.ts'
import type { World } from './world/world.ts'

/**
 * A fault that is on: the next `times` matching requests get this effect. `name`: the bad day to which the
 * fault belongs. A bad day is a fault that can be switched on by name (`bad-days/`).
 */
type ActiveFault = {
  name?: string
  /** Limits the fault to requests about this account. */
  steamId?: string
  matches: (request: Incoming, nowS: number) => boolean
  times: number
  /** When the fault ends, in seconds since 1970. */
  untilS?: number
  effect: Effect
  delayMs: number
}

export type Fault = Pick<ActiveFault, 'effect' | 'delayMs'>

/** A fault as the control API receives it. `path` is the beginning of a path. */
export type PlainFault = Fault & { match: { host?: string; path: string }; times: number }

export type Faults = ReturnType<typeof createFaults>

/** If more faults are active, the oldest are dropped. */
const MOST_ACTIVE = 1000
const MOST_DELAY_MS = 60_000

/** Keeps the active faults. The first one that matches a request applies to it, and counts it. */
export function createFaults(nowS: () => number) {
  let active: ActiveFault[] = []
  const forgetEnded = () => {
    active = active.filter(({ untilS = Infinity }) => untilS > nowS())
  }
  return {
    add({ match, ...fault }: PlainFault) {
      const matches = ({ path, host }: Incoming) =>
        path.startsWith(match.path) && (match.host === undefined || match.host === host)
      active = [...active, { ...fault, matches }].slice(-MOST_ACTIVE)
    },
    /** Switches a bad day on. It ends after a number of requests, after a time, or when it is switched off. */
    begin(name: string, { times, steamId }: { times?: number; steamId?: string }) {
      const day = BAD_DAYS[name]
      if (!day) return
      const end = day.forS === undefined ? {} : { untilS: nowS() + day.forS }
      const person = steamId === undefined ? {} : { steamId }
      active = [
        ...active.filter((other) => other.name !== name || other.steamId !== steamId),
        { ...activeFaultOf(day), name, times: times ?? day.times ?? Infinity, ...person, ...end },
      ]
    },
    /** Switches a bad day off for one account, or for all. */
    end(name: string, steamId?: string) {
      const isMeant = (other: ActiveFault) =>
        other.name === name && (steamId === undefined || other.steamId === steamId)
      active = active.filter((other) => !isMeant(other))
    },
    clear() {
      active = []
    },
    /** Names of the bad days that are on, whether for all accounts or for a single one. */
    activeNames() {
      forgetEnded()
      return active.flatMap(({ name }) => (name === undefined ? [] : [name]))
    },
    /** Names of the bad days that were switched on for this account alone. */
    activeNamesFor(steamId: string) {
      forgetEnded()
      return active.flatMap((other) =>
        other.steamId === steamId && other.name !== undefined ? [other.name] : [],
      )
    },
    /** True if the bad day is on for all, or for this account, if one is given. */
    isOn(name: string, steamId: string | undefined) {
      forgetEnded()
      return active.some(
        (other) => other.name === name && (other.steamId === undefined || other.steamId === steamId),
      )
    },
    /** Returns the fault of this request, and counts it. No fault applies to requests to the sandbox's own address. */
    take(request: Incoming, world: World): Fault | undefined {
      if (request.isOwn) return undefined
      forgetEnded()
      const fault = [...active, ...magicDays(world)].find(
        ({ matches, steamId }) =>
          (steamId === undefined || isAbout(request, world, steamId)) && matches(request, nowS()),
      )
      if (!fault) return undefined
      active = active.flatMap((other) => {
        if (other !== fault) return [other]
        return fault.times > 1 ? [{ ...fault, times: fault.times - 1 }] : []
      })
      return fault
    },
  }
}

function activeFaultOf({ at, when, effect, delayMs = 0 }: BadDay): ActiveFault {
  const matches = (request: Incoming, nowS: number) =>
    at.test(`${request.method} ${request.host}${request.path}`) && (when?.(request, nowS) ?? true)
  return { matches, times: Infinity, effect, delayMs }
}

/** The bad days of magic players (`magic_…`): each applies only to requests about its player. */
function magicDays({ accounts }: World): ActiveFault[] {
  return accounts.flatMap(({ behaviour, steamId }) => {
    const day = BAD_DAYS[behaviour ?? '']
    return day ? [{ ...activeFaultOf(day), steamId }] : []
  })
}

/** The account whose session the request names. The routes check whether that session is valid. */
function bearerOf({ cookies, query, form }: Incoming): string | undefined {
  const cookie = cookies.get('steamLoginSecure')
  if (cookie !== undefined) return /^\d+/.exec(cookie)?.[0]
  const token = query.get('access_token') ?? form.get('access_token') ?? form.get('nonce') ?? ''
  const [, claims] = token.split('.')
  return /"sub":"(\d+)"/.exec(Buffer.from(claims ?? '', 'base64url').toString())?.[1]
}

/** True if a request comes from the account's own session, or names the account or one of its offers or trades. */
function isAbout(request: Incoming, world: World, steamId: string): boolean {
  const { path, query, form } = request
  if (bearerOf(request) === steamId) return true
  const account = world.accounts.find((other) => other.steamId === steamId)
  const values = new Set([...path.split('/'), ...query.values(), ...form.values()])
  if (values.has(steamId)) return true
  if (!account) return false
  if (values.has(String(account.accountId))) return true
  if (account.address !== undefined && values.has(account.address)) return true
  const isTheirs = (deal: { id: string; sender: string; partner: string }) =>
    (deal.sender === steamId || deal.partner === steamId) && values.has(deal.id)
  return world.offers.some(isTheirs) || world.trades.some(isTheirs)
}

/** The answer that a fault sends instead of Steam's, if it sends one. */
export function replyOf({ effect }: Fault): Reply | undefined {
  if (effect.status === undefined && effect.body === undefined) return undefined
  const isHtml = typeof effect.body === 'string'
  return {
    status: effect.status ?? 200,
    headers: { 'content-type': isHtml ? 'text/html' : 'application/json', ...effect.headers },
    body: isHtml ? String(effect.body) : JSON.stringify(effect.body ?? null),
  }
}

/** Reads a fault from the control API. Undefined if it has no path; any other invalid field counts as missing. */
export function parseFault(value: unknown): PlainFault | undefined {
  const path = field(field(value, 'match'), 'path')
  if (typeof path !== 'string') return undefined
  const host = field(field(value, 'match'), 'host')
  const times = field(value, 'times')
  const delayMs = field(value, 'delayMs')
  return {
    match: { path, ...(typeof host === 'string' ? { host } : {}) },
    times: typeof times === 'number' ? times : 1,
    effect: effectOf(field(value, 'effect')),
    delayMs: typeof delayMs === 'number' ? Math.min(delayMs, MOST_DELAY_MS) : 0,
  }
}

function effectOf(value: unknown): Effect {
  const effect: Partial<Record<string, unknown>> =
    typeof value === 'object' && value !== null ? { ...value } : {}
  const { status, headers, hang, drop } = effect
  return {
    ...(typeof status === 'number' ? { status } : {}),
    ...('body' in effect ? { body: effect.body } : {}),
    ...(typeof headers === 'object' && headers !== null ? { headers: stringsOf(headers) } : {}),
    ...(isMoment(hang) ? { hang } : {}),
    ...(isMoment(drop) ? { drop } : {}),
  }
}

function isMoment(value: unknown): value is 'before' | 'after' {
  return value === 'before' || value === 'after'
}

function stringsOf(value: object): Record<string, string> {
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, String(entry)]))
}
