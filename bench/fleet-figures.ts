/** The costs of a fleet: calls to Steam by method, the limits that were hit, and the memory of processes. */
import { execFile } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { promisify } from 'node:util'
import type { BudgetLimits } from '../gateway/steam/budget.ts'
import { limitsOf, METHODS, type Method } from '../gateway/steam/methods.ts'
import type { RunningSteam } from '../steam-sandbox/start.ts'

const STEAM_HOSTS = /\.?(steampowered\.com|steamcommunity\.com)$/
const TOO_MANY = 429

type Finished = {
  request: { method?: string; url?: string; headers: { host?: string; cookie?: string } }
  response: { statusCode: number }
}

export type Calls = {
  /** One line per method, busiest first. */
  lines(over: Span): string[]
  /** How many calls got 429, except those of the bots with these Steam ids. */
  limited(except: ReadonlySet<string>): number
  /** Methods that one bot, or all bots together, called more often than their budgets allow in this time. */
  overBudget(over: Span): string[]
  end(): void
}

export type Span = { bots: number; minutes: number }

type Count = { calls: number; limited: number; byCaller: Map<string, number> }

/** Counts the calls to Steam's hosts at the sandbox, which runs in this process. */
export function watchCalls({ port }: RunningSteam): Calls {
  const counts = new Map<string, Count>()
  const limited: (string | undefined)[] = []
  const countCall = (message: unknown): void => {
    const { request, response } = message as Finished & { request: { socket: { localPort?: number } } }
    if (request.socket.localPort !== port || !STEAM_HOSTS.test(request.headers.host ?? '')) return
    const url = new URL(request.url ?? '/', 'http://steam.test')
    const method = nameOf(url.pathname)
    const caller = callerOf(url, request.headers.cookie)
    const count = counts.get(method) ?? { calls: 0, limited: 0, byCaller: new Map() }
    count.calls += 1
    if (caller !== undefined) count.byCaller.set(caller, (count.byCaller.get(caller) ?? 0) + 1)
    if (response.statusCode === TOO_MANY) {
      count.limited += 1
      limited.push(caller)
    }
    counts.set(method, count)
  }
  subscribe('http.server.response.finish', countCall)
  return {
    lines: ({ bots, minutes }) =>
      [...counts]
        .sort(([, a], [, b]) => b.calls - a.calls)
        .map(([name, { calls, limited: refused, byCaller }]) => {
          const rate = (calls / bots / minutes).toFixed(2)
          const budget = budgetOf(name, minutes).account
          const most =
            budget === undefined ? '' : `, at most ${mostOf(byCaller)} by one bot, whose budget is ${budget}`
          return `${name}: ${rate} per bot and minute${most}, ${refused} of ${calls} answered 429`
        }),
    limited: (except) => limited.filter((caller) => caller === undefined || !except.has(caller)).length,
    overBudget: ({ minutes }) =>
      [...counts].flatMap(([name, { calls, byCaller }]) => {
        const { account, address } = budgetOf(name, minutes)
        const isOver =
          (account !== undefined && mostOf(byCaller) > account) || (address !== undefined && calls > address)
        return isOver ? [name] : []
      }),
    end: () => unsubscribe('http.server.response.finish', countCall),
  }
}

const mostOf = (byCaller: ReadonlyMap<string, number>): number => Math.max(0, ...byCaller.values())

/** The method of each of Steam's pages, by its name in the table of budgets. */
const PAGES: [RegExp, Method][] = [
  [/^\/tradeoffer\/new\/partnerinventory\/$/, 'partnerinventory'],
  [/^\/tradeoffer\/new\/send$/, 'send'],
  [/^\/tradeoffer\/\d+\/cancel$/, 'cancel'],
  [/^\/tradeoffer\/\d+\/decline$/, 'decline'],
  [/^\/+trade\/new\/acknowledge/, 'acknowledge'],
  [/^\/inventory\//, 'inventory'],
  [/^\/profiles\/\d+\/inventory\/json\//, 'owninventory'],
  [/^\/profiles\/\d+\/?$/, 'profile'],
  [/^\/miniprofile\//, 'miniprofile'],
  // This is one of about five requests of a login, so each login counts once.
  [/^\/jwt\/finalizelogin$/, 'login'],
]

/** The name in the table of budgets, or the method's name in Steam's API, or the page's path without ids. */
function nameOf(path: string): string {
  const page = PAGES.find(([pattern]) => pattern.test(path))
  if (page !== undefined) return page[1]
  const [service = '', method, version] = path.split('/').filter((part) => part !== '')
  if (version?.startsWith('v')) return method ?? service
  return path.replace(/\d{4,}/g, 'N')
}

/** The most calls that the till's budgets allow in this many minutes. A field is missing if there is no such budget. */
function budgetOf(name: string, minutes: number): { account?: number; address?: number } {
  if (!isMethod(name)) return {}
  const { account, address } = limitsOf(name)
  const mostCalls = ({ burst, everyMs }: BudgetLimits) => Math.ceil(burst + (minutes * 60_000) / everyMs)
  return { ...(account !== null && { account: mostCalls(account) }), address: mostCalls(address) }
}

const isMethod = (name: string): name is Method => name in METHODS

/** The Steam id in the call's cookie or token; undefined for a public call. */
function callerOf(url: URL, cookie = ''): string | undefined {
  const fromCookie = /steamLoginSecure=(\d+)/.exec(cookie)?.[1]
  if (fromCookie !== undefined) return fromCookie
  const [, claims] = url.searchParams.get('access_token')?.split('.') ?? []
  if (claims === undefined) return undefined
  return /"sub":"(\d+)"/.exec(Buffer.from(claims, 'base64url').toString())?.[1]
}

/** The resident memory of these processes together, in MiB. */
export async function memoryOf(pids: readonly number[]): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', pids.join(',')])
  const kb = stdout.trim().split(/\s+/).map(Number)
  return Math.round(kb.reduce((sum, each) => sum + each, 0) / 1_024)
}
