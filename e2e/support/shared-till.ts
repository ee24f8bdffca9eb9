/** The running till that a worker's tests share. */
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Browser, BrowserContext, BrowserContextOptions, Page, Route } from 'playwright-core'
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
import type { Provision } from './setup.ts'
import { TEXTS } from './shopper.ts'
import { query as queryAt } from './till.ts'
import { callerOf, makeOffer, newDeposit, type OpenedDeposit } from './widget-calls.ts'

const provision = await provisionOfWorker()
// The browser may have been found after this process began.
Object.assign(process.env, provision.browserPaths)

export const till = provision.till

async function provisionOfWorker(): Promise<Provision> {
  // Unlike `fetch`, this has no time limit, because a browser may have to be downloaded first.
  const [answer]: IncomingMessage[] = await once(
    get(`${inject('tills')}/${process.env.VITEST_POOL_ID}`),
    'response',
  )
  if (answer === undefined) throw new Error('no answer')
  const body = await text(answer)
  if (answer.statusCode !== 200) throw new Error(`no browser or till for this worker: ${body}`)
  return JSON.parse(body) as Provision
}

let launched: Promise<Browser> | undefined

/**
 * The browser of this worker. The worker starts it, because every message passes through the process that started the
 * browser.
 */
export function sharedBrowser(): Promise<Browser> {
  launched ??= launchShell()
  return launched
}

const guests = new Map<string, Promise<Player>>()

/** This test's own shopper: a copy of the shopper called `like`. The copy is removed when the test has passed. */
export function shopper(like = 'nova_hound'): Promise<Player> {
  const guest = guests.get(like) ?? inviteGuest(till.sandbox, like)
  guests.set(like, guest)
  return guest
}

/** Runs after every test. Keeps the guests of a failed test, so its pictures show its offers unchanged. */
export async function endTest({ hasFailed }: { hasFailed: boolean }): Promise<void> {
  const leaving = await Promise.all(guests.values())
  guests.clear()
  if (!hasFailed) await Promise.all(leaving.map((guest) => dismissGuest(till.sandbox, guest)))
}

type BrowserSettings = { viewport?: typeof DESKTOP; context?: BrowserContextOptions }

/** Opens a browser context. The test fails if a page of the context violates a policy or has an uncaught error. */
export async function openBrowser({
  viewport = SMALL_DESKTOP,
  context = {},
}: BrowserSettings = {}): Promise<Visit> {
  const visited = await visit(await sharedBrowser(), viewport, context)
  onTestFinished(visited.end)
  saveEvidenceOnFailure(visited)
  return visited
}

/** Opens a context in which errors fail no test, because Chromium reports one for every frame that it refuses. */
export async function openTolerantContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await (await sharedBrowser()).newContext({ locale: 'en-US', ...options })
  context.setDefaultTimeout(WAIT_MS)
  onTestFinished(() => context.close())
  return context
}

/** If the test fails, saves the browser's last page, as a picture and as HTML, and its requests. */
export function saveEvidenceOnFailure(visited: Visit): void {
  for (const [file, read] of evidenceOf(visited)) offerEvidence(file, read)
}

/** Runs before every test. The till's output from here on is the test's log. */
export function beginTest(): void {
  const logSizeBefore = statSync(till.outputFile).size
  offerEvidence('till.log', () => readFileSync(till.outputFile).subarray(logSizeBefore))
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
  const deposit = await createDeposit({ language, ...body })
  await visited.page.goto(deposit.url)
  return { ...visited, deposit, texts: TEXTS[language] }
}

export type AtStand = Opened & { inventory: Inventory }

/**
 * Opens a page at the items of a shopper like `who`, and returns it with the inventory. A call gives the trade link, as
 * the page would. `beforeOpening` runs before the page loads.
 */
export async function openStand(
  { who = 'nova_hound', language = 'en', deposit: body = {}, ...settings }: Opening & { who?: string } = {},
  beforeOpening: (visited: Visit) => Promise<void> = async () => {},
): Promise<AtStand> {
  const deposit = await createDeposit({ language, ...body })
  const caller = await callerOf(till.gateway, deposit)
  await caller.post('/api/trade-url', { tradeUrl: (await shopper(who)).tradeUrl })
  const visited = await openBrowser(settings)
  await beforeOpening(visited)
  await visited.page.goto(deposit.url)
  await visited.page.getByRole('gridcell').first().waitFor()
  // Repeats the page's call, because the browser may have dropped the body of an answer that came during the load.
  const inventory = await caller.inventory(body.games?.[0])
  return { ...visited, deposit, texts: TEXTS[language], inventory }
}

export type AtOffer = Opened & { offerId: string; amount: number }

/**
 * Opens a page at the confirmation of an open offer, for tests of later steps. Calls give the trade link and ask for
 * the trade, as the page would. `beforeOpening` runs before the page loads.
 */
export async function openConfirmation(
  { language = 'en', deposit: body = {}, ...settings }: Opening = {},
  beforeOpening: (visited: Visit) => Promise<void> = async () => {},
): Promise<AtOffer> {
  const deposit = await createDeposit({ language, ...body })
  const caller = await callerOf(till.gateway, deposit)
  await caller.post('/api/trade-url', { tradeUrl: (await shopper()).tradeUrl })
  const offer = await makeOffer(caller)
  const visited = await openBrowser(settings)
  const texts = TEXTS[language]
  await beforeOpening(visited)
  await visited.page.goto(deposit.url)
  await visited.page.getByRole('dialog', { name: texts.confirmTitle }).waitFor()
  return { ...visited, deposit, texts, ...offer }
}

/**
 * Answers the offer as its shopper. Resolves once the gateway has noticed. A call without an ETag makes a bot read the
 * offer immediately, while a polling page waits until the bot next reads its list of offers.
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

/** Creates a deposit of the demo store without opening its page. */
export function createDeposit(body: Partial<CreateDepositBody> = {}): Promise<OpenedDeposit> {
  const secrets = parseSecrets(readFileSync(join(till.root, 'demo-store.json'), 'utf8'))
  return newDeposit({ place: till, secrets }, body)
}

export const query = (sql: string, values?: unknown[]): Promise<Record<string, unknown>[]> =>
  queryAt(till, sql, values)

/** Resolves to the next inventory that the page receives. Reads it on the way, because a browser may drop bodies. */
export async function nextInventory(page: Page): Promise<Inventory> {
  const arrived = Promise.withResolvers<Inventory>()
  const pass = async (route: Route): Promise<void> => {
    const response = await route.fetch({ timeout: 0 })
    arrived.resolve(await response.json())
    await route.fulfill({ response })
  }
  await page.route('**/api/inventory?*', (route) => pass(route).catch(arrived.reject), { times: 1 })
  return arrived.promise
}

export function callsTo(visited: Visit, path: string): Visit['seen']['requests'] {
  return visited.seen.requests.filter(({ url }) => new URL(url).pathname === path)
}

export async function switchMaintenance(to: 'on' | 'off', ...options: string[]): Promise<void> {
  const env = { TRADETILL_DATA: join(till.root, 'gateway'), TRADETILL_STEAM_SANDBOX_URL: till.sandbox }
  const { code, errors } = await runCommand(['maintenance', to, ...options], { env })
  if (code !== 0) throw new Error(errors)
}
