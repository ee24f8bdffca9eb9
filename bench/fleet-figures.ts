/** What a fleet costs: calls of Steam by method, the limits it hit, and the memory of processes. */
import { execFile } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { promisify } from 'node:util'
import type { RunningSteam } from '../steam-sandbox/start.ts'

const STEAM_HOSTS = /\.?(steampowered\.com|steamcommunity\.com)$/
const TOO_MANY = 429

type Finished = {
  request: { method?: string; url?: string; headers: { host?: string; cookie?: string } }
  response: { statusCode: number }
}

export type Calls = {
  /** A line for each method, busiest first: calls by bot and minute, and how many were answered 429. */
  lines(botMinutes: number): string[]
  /** Calls that were answered 429, but for those of the bots named. */
  limited(except: ReadonlySet<string>): number
  end(): void
}

/** Counts what reaches Steam's hosts of the sandbox in this process. */
export function watchCalls({ port }: RunningSteam): Calls {
  const counts = new Map<string, { calls: number; limited: number }>()
  const limited: (string | undefined)[] = []
  const see = (message: unknown): void => {
    const { request, response } = message as Finished & { request: { socket: { localPort?: number } } }
    if (request.socket.localPort !== port || !STEAM_HOSTS.test(request.headers.host ?? '')) return
    const url = new URL(request.url ?? '/', 'http://steam.test')
    const method = nameOf(url.pathname)
    const count = counts.get(method) ?? { calls: 0, limited: 0 }
    count.calls += 1
    if (response.statusCode === TOO_MANY) {
      count.limited += 1
      limited.push(callerOf(url, request.headers.cookie))
    }
    counts.set(method, count)
  }
  subscribe('http.server.response.finish', see)
  return {
    lines: (botMinutes) =>
      [...counts]
        .sort(([, a], [, b]) => b.calls - a.calls)
        .map(([method, { calls, limited: refused }]) => {
          const rate = (calls / botMinutes).toFixed(2)
          return `${method}: ${rate} a bot and minute, ${refused} of ${calls} answered 429`
        }),
    limited: (except) => limited.filter((caller) => caller === undefined || !except.has(caller)).length,
    end: () => unsubscribe('http.server.response.finish', see),
  }
}

/** The method of Steam's API, or the page without the ids in it. */
function nameOf(path: string): string {
  const [service = '', method, version] = path.split('/').filter((part) => part !== '')
  if (version?.startsWith('v')) return method ?? service
  return path.replace(/\d{4,}/g, 'N')
}

/** Whose token or cookie came with the call. */
function callerOf(url: URL, cookie = ''): string | undefined {
  const own = /steamLoginSecure=(\d+)/.exec(cookie)?.[1]
  if (own !== undefined) return own
  const [, claims] = url.searchParams.get('access_token')?.split('.') ?? []
  if (claims === undefined) return undefined
  return /"sub":"(\d+)"/.exec(Buffer.from(claims, 'base64url').toString())?.[1]
}

/** Of all these processes together, in MB. */
export async function memoryOf(pids: readonly number[]): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', pids.join(',')])
  const kb = stdout.trim().split(/\s+/).map(Number)
  return Math.round(kb.reduce((sum, each) => sum + each, 0) / 1_024)
}
