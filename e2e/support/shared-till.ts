/** The running till that the tests of a worker share, and a fresh browser context for each test. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { expect, inject, onTestFinished } from 'vitest'
import type { Language } from '../../contract/languages.ts'
import type { CreateDepositBody } from '../../contract/store-api.ts'
import type { Inventory } from '../../contract/widget-api.ts'
import { runCommand } from '../../gateway/testing/command.ts'
import { offerEvidence } from '../../gateway/testing/evidence.ts'
import type { Messages } from '../../widget/i18n/en.ts'
import {
  type DESKTOP,
  evidenceOf,
  launchShell,
  SMALL_DESKTOP,
  type Visit,
  visit,
  WAIT_MS,
} from './browser.ts'
import { parseSecrets } from './demo-store.ts'
import { answerOffer, dismissGuest, inviteGuest, type Player } from './sandbox.ts'
import type { Shared } from './setup.ts'
import { TEXTS } from './shopper.ts'
import { query as queryAt } from './till.ts'
import { callerOf, newDeposit, type OpenedDeposit, standingOffer } from './widget-calls.ts'

export const till = await tillOfWorker()

async function tillOfWorker(): Promise<Shared> {
  const answer = await fetch(`${inject('tills')}/${process.env.VITEST_POOL_ID}`)
  if (!answer.ok) throw new Error(`no till for this worker: ${await answer.text()}`)
  return (await answer.json()) as Shared
}

let launched: Promise<Browser> | undefined

/** The one browser of this worker. From another process, every message of it would be written and read once more. */
export function sharedBrowser(): Promise<Browser> {
  launched ??= launchShell()
  return launched
}

const guests = new Map<string, Promise<Player>>()

/** The shopper of this test, like the one of that name: the same for the whole test, and gone when it ends. */
export function shopper(like = 'nova_hound'): Promise<Player> {
  const guest = guests.get(like) ?? inviteGuest(till.sandbox, like)
  guests.set(like, guest)
  return guest
}

/** Runs after every test. The guests of a failed one stay: its picture is still to be taken, with its offer as it is. */
export async function endTest({ hasFailed }: { hasFailed: boolean }): Promise<void> {
  const leaving = await Promise.all(guests.values())
  guests.clear()
  if (!hasFailed) await Promise.all(leaving.map((guest) => dismissGuest(till.sandbox, guest)))
}

type BrowserSettings = { viewport?: typeof DESKTOP; context?: BrowserContextOptions }

/** A browser of the test's own. At the test's end no policy was violated and no error left uncaught in it. */
export async function openBrowser({
  viewport = SMALL_DESKTOP,
  context = {},
}: BrowserSettings = {}): Promise<Visit> {
  const visited = await visit(await sharedBrowser(), viewport, context)
  onTestFinished(visited.end)
  offerEvidenceOf(visited)
  return visited
}

/** A context of the test's own whose browser may complain, as Chromium does of every frame that it refuses. */
export async function openComplainingContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await (await sharedBrowser()).newContext({ locale: 'en-US', ...options })
  context.setDefaultTimeout(WAIT_MS)
  onTestFinished(() => context.close())
  return context
}

/** Its pictures and requests are kept if the test fails. */
export function offerEvidenceOf(visited: Visit): void {
  for (const [file, read] of evidenceOf(visited)) offerEvidence(file, read)
}

/** Runs before every test: what the till writes from here on is its log. */
export function beginTest(): void {
  const before = statSync(till.outputFile).size
  offerEvidence('till.log', () => readFileSync(till.outputFile).subarray(before))
}

type Opening = BrowserSettings & { language?: Language; deposit?: Partial<CreateDepositBody> }

export type Opened = Visit & { texts: Messages; deposit: OpenedDeposit }

/** A new deposit of the demo store, opened by its link. */
export async function openDeposit({
  language = 'en',
  deposit: body = {},
  ...settings
}: Opening = {}): Promise<Opened> {
  const visited = await openBrowser(settings)
  const deposit = await depositOf({ language, ...body })
  await visited.page.goto(deposit.url)
  return { ...visited, deposit, texts: TEXTS[language] }
}

export type AtStand = Opened & { inventory: Inventory }

/**
 * A page at the items of a shopper like `who`, and that inventory. The link was given by a call, as a page makes it.
 * `before` has the page before it loads.
 */
export async function openStand(
  { who = 'nova_hound', language = 'en', deposit: body = {}, ...settings }: Opening & { who?: string } = {},
  before: (visited: Visit) => Promise<void> = async () => {},
): Promise<AtStand> {
  const deposit = await depositOf({ language, ...body })
  const caller = await callerOf(till.gateway, deposit)
  await caller.post('/api/trade-url', { tradeUrl: (await shopper(who)).tradeUrl })
  const visited = await openBrowser(settings)
  await before(visited)
  await visited.page.goto(deposit.url)
  await visited.page.getByRole('gridcell').first().waitFor()
  // The same answer by a call: a browser may have dropped the body of one that came while its page loaded.
  const inventory = await caller.inventory(body.games?.[0])
  return { ...visited, deposit, texts: TEXTS[language], inventory }
}

export type AtOffer = Opened & { offerId: string; amount: number }

/**
 * A page at the confirmation of an open offer. The link and the trade were asked for by calls, as a page makes them:
 * for tests of what comes afterwards. `before` has the page before it loads.
 */
export async function openConfirmation(
  { language = 'en', deposit: body = {}, ...settings }: Opening = {},
  before: (visited: Visit) => Promise<void> = async () => {},
): Promise<AtOffer> {
  const deposit = await depositOf({ language, ...body })
  const caller = await callerOf(till.gateway, deposit)
  await caller.post('/api/trade-url', { tradeUrl: (await shopper()).tradeUrl })
  const offer = await standingOffer(caller)
  const visited = await openBrowser(settings)
  const texts = TEXTS[language]
  await before(visited)
  await visited.page.goto(deposit.url)
  await visited.page.getByRole('dialog', { name: texts.confirmTitle }).waitFor()
  return { ...visited, deposit, texts, ...offer }
}

/**
 * The shopper answers the offer; resolves when the gateway knows. A call without a known answer has a bot read the offer
 * at once, where a page that polls waits for the next look at the list.
 */
export async function endDeposit(
  deposit: OpenedDeposit,
  offerId: string,
  answer: 'accept' | 'decline' = 'accept',
): Promise<void> {
  await answerOffer(till.sandbox, offerId, answer)
  const caller = await callerOf(till.gateway, deposit)
  const end = answer === 'accept' ? 'succeeded' : 'tradeDeclined'
  await expect.poll(async () => (await caller.payment()).status).toBe(end)
}

/** A new deposit of the demo store, not opened yet. */
export function depositOf(body: Partial<CreateDepositBody> = {}): Promise<OpenedDeposit> {
  const secrets = parseSecrets(readFileSync(join(till.root, 'demo-store.json'), 'utf8'))
  return newDeposit({ place: till, secrets }, body)
}

/** Rows of one query on the gateway's database. */
export const query = (sql: string, values?: unknown[]): Promise<Record<string, unknown>[]> =>
  queryAt(till, sql, values)

/** The next inventory that the page is answered. */
export async function nextInventory(page: Page): Promise<Inventory> {
  const response = await page.waitForResponse((each) => new URL(each.url()).pathname === '/api/inventory')
  return response.json()
}

/** Requests to a call of the API, in their order. */
export function callsTo(visited: Visit, path: string): Visit['seen']['requests'] {
  return visited.seen.requests.filter(({ url }) => new URL(url).pathname === path)
}

/** The operator's command. */
export async function maintenance(turn: 'on' | 'off'): Promise<void> {
  const env = { TRADETILL_DATA: join(till.root, 'gateway'), TRADETILL_STEAM_SANDBOX_URL: till.sandbox }
  const { code, errors } = await runCommand(['maintenance', turn], { env })
  if (code !== 0) throw new Error(errors)
}
