/** Starts a console on a new or a shared database, and signs operators in with the calls that its page makes. */
import { readConfig } from '../config.ts'
import { createConsole } from '../console/app.ts'
import type { Live } from '../console/live.ts'
import type { ActDeps } from '../operations/operation.ts'
import { addOperator, type FreshLink } from '../operations/operators.ts'
import { type Authenticator, createAuthenticator } from './authenticator.ts'
import { type FakeClock, fakeClock } from './clock.ts'
import { type TestDatabase, testDatabase } from './database.ts'
import { captureLog } from './log.ts'
import { TEST_MASTER_KEY } from './till.ts'

export const ORIGIN = 'http://localhost:4304'
export const SANDBOX_KEY = 'k'.repeat(43)

export type TestConsole = Awaited<ReturnType<typeof startConsole>>

/** The headers of a call from the console's own page. */
export const OWN_PAGE_HEADERS = {
  host: 'localhost:4304',
  origin: ORIGIN,
  'sec-fetch-site': 'same-origin',
  'content-type': 'application/json',
}

const NO_STREAMS: Live = { open: () => false, stop: async () => {} }

/** `shared`: a database that the caller closes; a new one if absent. */
export async function startConsole(shared?: Pick<TestDatabase, 'db'>, settings: Record<string, string> = {}) {
  const database = shared === undefined ? await testDatabase() : { ...shared, close: async () => {} }
  const clock = fakeClock(new Date())
  const answer = readConfig({
    TRADETILL_CONSOLE_PORT: '4304',
    TRADETILL_CONSOLE_SANDBOX_KEY: SANDBOX_KEY,
    ...settings,
  })
  if (answer.kind === 'refused') throw new Error(answer.problems.join())
  const config = { ...answer.config, masterKey: TEST_MASTER_KEY }
  const deps = { config, db: database.db, clock }
  let nowMs = 0
  const app = await createConsole({
    ...deps,
    folder: '/nowhere',
    log: captureLog().log,
    live: NO_STREAMS,
    party: { url: new URL(ORIGIN) },
    sandboxKey: SANDBOX_KEY,
    nowMs: () => nowMs,
  })
  return {
    app,
    clock: clock as FakeClock,
    db: database.db,
    by: (operator: string): ActDeps => ({ ...deps, operator, reason: 'a test' }),
    /** Advances the time of the rate limits. */
    advanceLimits: (ms: number) => {
      nowMs += ms
    },
    close: async () => {
      await app.close()
      await database.close()
    },
  }
}

export type ConsoleAnswer = {
  status: number
  data: Record<string, unknown>
  error: { kind: string; message: string } | undefined
  headers: Record<string, unknown>
}

type Call = { headers?: Record<string, string>; body?: object; method?: 'GET' | 'POST' | 'PUT' }

export async function post(
  { app }: Pick<TestConsole, 'app'>,
  path: string,
  { headers = OWN_PAGE_HEADERS, body = {}, method = 'POST' }: Call = {},
): Promise<ConsoleAnswer> {
  const answer = await app.inject({ method, url: `/ops/${path}`, headers, payload: JSON.stringify(body) })
  const { data = {}, error } = answer.json<Pick<ConsoleAnswer, 'data' | 'error'>>()
  return { status: answer.statusCode, data, error, headers: answer.headers }
}

/** The headers of a signed-in page's call, with the two halves of its session. */
export function sessionOf({ data, headers }: ConsoleAnswer): Record<string, string> {
  const cookie = String(headers['set-cookie']).split(';')[0] ?? ''
  return { ...OWN_PAGE_HEADERS, cookie, 'x-console-session': String(data.session) }
}

const optionsOf = (answer: ConsoleAnswer): { challenge: string } => {
  const { options } = answer.data
  if (typeof options !== 'object' || options === null || !('challenge' in options))
    throw new Error(`no options: ${JSON.stringify(answer)}`)
  return { challenge: String(options.challenge) }
}

export const secretOf = ({ url }: FreshLink): string => url.split('#')[1] ?? ''

export async function linkFor(
  testConsole: TestConsole,
  name: string,
  role: 'viewer' | 'support' | 'operator' = 'operator',
): Promise<string> {
  const answer = await addOperator(testConsole.by('host'), { name, role })
  if (answer.kind === 'refused') throw new Error(answer.message)
  return secretOf(answer.data)
}

export async function register(testConsole: TestConsole, link: string, device = createAuthenticator(ORIGIN)) {
  const start = await post(testConsole, 'link/begin', { body: { link } })
  if (start.status !== 200) return start
  return post(testConsole, 'link/finish', { body: { link, registration: device.register(optionsOf(start)) } })
}

/** Adds an operator, who signs in by registering a passkey. */
export async function signIn(
  testConsole: TestConsole,
  name: string,
  role: 'viewer' | 'support' | 'operator' = 'operator',
): Promise<{ device: Authenticator; headers: Record<string, string> }> {
  const device = createAuthenticator(ORIGIN)
  const answer = await register(testConsole, await linkFor(testConsole, name, role), device)
  if (answer.status !== 200) throw new Error(JSON.stringify(answer))
  return { device, headers: sessionOf(answer) }
}

type Showing = { device: Authenticator; headers?: Record<string, string>; at?: 'sign-in' | 'step-up' }

/** Signs in with a passkey, or repeats the passkey check. */
export async function showPasskey(
  testConsole: TestConsole,
  { device, headers = OWN_PAGE_HEADERS, at = 'sign-in' }: Showing,
): Promise<ConsoleAnswer> {
  const start = await post(testConsole, `${at}/begin`, { headers })
  if (start.status !== 200) return start
  return post(testConsole, `${at}/finish`, {
    headers,
    body: { assertion: device.authenticate(optionsOf(start)) },
  })
}
