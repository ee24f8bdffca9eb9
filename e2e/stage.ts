/** The running till and a fresh browser context for each test. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core'
import { afterAll, afterEach, inject, onTestFinished } from 'vitest'
import type { Language } from '../contract/languages.ts'
import type { CreateDepositBody } from '../contract/store-api.ts'
import { runningEmbeddedUrl } from '../gateway/db/embedded.ts'
import type { Messages } from '../widget/i18n/en.ts'
import { DESKTOP, type Visit, visit } from './browser.ts'
import { newDeposit, type OpenedDeposit } from './calls.ts'
import { run } from './process.ts'
import { answerOffer, offers } from './sandbox.ts'
import type { Shared } from './setup.ts'
import { TEXTS } from './shopper.ts'
import { parseSecrets } from './store.ts'

export const till = tillOfWorker()

function tillOfWorker(): Shared {
  const shared = inject('shared')[Number(process.env.VITEST_POOL_ID) - 1]
  if (shared === undefined) throw new Error(`no till was started for worker ${process.env.VITEST_POOL_ID}`)
  return shared
}

let connected: Promise<Browser> | undefined

/** The one browser of the run. */
export function sharedBrowser(): Promise<Browser> {
  connected ??= chromium.connect(till.browser)
  return connected
}

afterAll(async () => {
  await (await connected)?.close()
  connected = undefined
})

/** As Steam numbers the states of an offer. */
const ACTIVE = 2

// A shopper may have only so many offers at a time, on all bots.
afterEach(async () => {
  const standing = (await offers(till.sandbox)).filter(({ state }) => state === ACTIVE)
  // One that is answered in this moment is over too.
  await Promise.allSettled(standing.map(({ id }) => answerOffer(till.sandbox, id, 'decline')))
})

type Stage = { viewport?: typeof DESKTOP; context?: BrowserContextOptions }

/** A browser of the test's own. At the test's end no policy was violated and no error left uncaught in it. */
export async function openBrowser({ viewport = DESKTOP, context = {} }: Stage = {}): Promise<Visit> {
  const visited = await visit(await sharedBrowser(), viewport, context)
  onTestFinished(visited.end)
  return visited
}

type Opening = Stage & { language?: Language; deposit?: Partial<CreateDepositBody> }

export type Opened = Visit & { texts: Messages; deposit: OpenedDeposit }

/** A new deposit of the demo store, opened by its link. */
export async function openDeposit({
  language = 'en',
  deposit: body = {},
  ...stage
}: Opening = {}): Promise<Opened> {
  const visited = await openBrowser(stage)
  const deposit = await depositOf({ language, ...body })
  await visited.page.goto(deposit.url)
  return { ...visited, deposit, texts: TEXTS[language] }
}

/** A new deposit of the demo store, not opened yet. */
export function depositOf(body: Partial<CreateDepositBody> = {}): Promise<OpenedDeposit> {
  const secrets = parseSecrets(readFileSync(join(till.root, 'demo-store.json'), 'utf8'))
  return newDeposit({ place: till, secrets }, body)
}

/** Rows of one query on the gateway's database. */
export async function query(sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: runningEmbeddedUrl(join(till.root, 'gateway')) })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql, values)).rows
  } finally {
    await client.end()
  }
}

/** Requests to a call of the API, in their order. */
export function callsTo(visited: Visit, path: string): Visit['seen']['requests'] {
  return visited.seen.requests.filter(({ url }) => new URL(url).pathname === path)
}

/** The operator's command. */
export async function maintenance(turn: 'on' | 'off'): Promise<void> {
  const env = { TRADETILL_DATA: join(till.root, 'gateway'), TRADETILL_STEAM_SANDBOX_URL: till.sandbox }
  const done = run('gateway/cli/main.ts', env, { args: ['maintenance', turn] })
  if ((await done.ended) !== 0) throw new Error(done.output())
}
