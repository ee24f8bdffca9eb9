/**
 * How many requests to Steam a deposit costs, and how soon a shopper's page shows the acceptance. 30 offers are open
 * for a minute on one bot, 12 of them made on the real page, each in a separate window. Half of those shoppers accept
 * on the trade page in another tab and come back immediately. The other half do not come back: they stay on the trade
 * page, or accept on another device while the page stays open. The other 18 accept without a page. For comparison, the
 * polling engine of the Steam client libraries does the same job on a separate Steam.
 */
import { randomUUID } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { paymentSchema } from '../contract/widget-api.ts'
import { eventually } from '../e2e/support/process.ts'
import { prepare } from '../e2e/support/setup.ts'
import { ACCEPTING, openOffer, pickItems, sortDearestFirst, switchLanguage } from '../e2e/support/shopper.ts'
import { call, openVisit, requestTrade, showItems } from '../proofs/kill/load.ts'
import {
  BOTS,
  openProcessTill,
  type ProcessTill,
  untilAnswering,
  untilBotsOnline,
} from '../proofs/kill/till.ts'
import { STATE } from '../steam-sandbox/world/world.ts'
import { en } from '../widget/i18n/en.ts'
import { openWindows, type Windows } from './browser-windows.ts'
import { withDatabase } from './database.ts'
import { median, type Outcome } from './outcome.ts'
import { openPeer, type Peer } from './steam-peer.ts'

const PEOPLE = [
  'nova_hound',
  'quiet_lynx',
  'magic_declines',
  'magic_counters',
  'magic_seller',
  'magic_reverser',
] as const
/** Steam lets a bot have five open offers with one person, and thirty in all. */
const OFFERS_EACH = 5
/** Number of each person's offers that are made and completed in a browser. */
const WINDOWS_EACH = 2
const OPEN_MS = 60_000
/** Shoppers accept at random times within this span, so their times are independent of the till's reads of offers. */
const SPREAD_MS = 5_000
/** The most requests to Steam per deposit. */
const REQUESTS_LIMIT = 9
const RETURNED_LIMIT_S = 2
const WAITED_LIMIT_S = 5
/** How many shoppers accept at the same time. */
const AT_A_TIME = 3
/** How long to wait until an acceptance is known. */
const KNOWN_MS = 30_000
const STEAM_HOSTS = /\.?(steampowered\.com|steamcommunity\.com)$/

export async function benchSteam(): Promise<Outcome> {
  const executablePath = await prepare()
  return withDatabase({ fsync: true }, async (serverUrl) => {
    const till = await openProcessTill(serverUrl, 'bench')
    const gateway = till.start()
    const [peer, windows] = await Promise.all([openPeer(BOTS[0]), openWindows(executablePath)])
    try {
      await untilAnswering(till, gateway)
      await untilBotsOnline(till, 0n)
      await till.pool.query(`update bot set state = 'paused' where name = $1`, [BOTS[1]])
      return await measure({ till, peer, windows })
    } catch (error) {
      console.error(gateway.output())
      throw error
    } finally {
      await Promise.all([windows.close(), peer.close()])
      await gateway.interrupt()
      await till.close()
    }
  })
}

type Setup = { till: ProcessTill; peer: Peer; windows: Windows }
/** An open offer. `page`: for a shopper in a browser. `twin`: the other engine's offer to the same person. */
type OpenOffer = { hash: string; person: string; offerId: string; page: Page | undefined; twin: string }
type Seconds = { returned: number[]; waited: number[]; peer: number[] }

async function measure(setup: Setup): Promise<Outcome> {
  // Removes the automatic behaviour of people, some of whom would decline or counter.
  for (const steam of [setup.till.steam, setup.peer.steam]) {
    steam.change((world) => ({
      world: { ...world, accounts: world.accounts.map(({ behaviour: _, ...account }) => account) },
      answer: undefined,
    }))
  }
  const counter = countRequests()
  const opened = await Promise.all(PEOPLE.map((person) => openOffers(setup, person)))
  // Mixes the people, so nobody accepts several offers in succession.
  const offers = Array.from({ length: OFFERS_EACH }, (_, turn) =>
    opened.flatMap((ofPerson) => ofPerson[turn] ?? []),
  )
  const open = offers.flat()
  const { till, peer } = setup
  console.log(
    `steam: ${open.length} offers are open after ${counter.count(till.steam.port)} requests, those of the ` +
      `libraries' engine after ${counter.count(peer.steam.port)}`,
  )
  await delay(OPEN_MS)
  const seconds = await acceptAll(setup, open)
  const ours = counter.count(till.steam.port) / open.length
  const theirs = counter.count(peer.steam.port) / open.length
  counter.end()
  return judge(seconds, { ours, theirs, isFull: open.length === PEOPLE.length * OFFERS_EACH })
}

/**
 * Lets a few shoppers accept at a time, and repeats each acceptance on the other engine. One at a time would outlast the
 * five minutes of an offer.
 */
async function acceptAll(setup: Setup, open: readonly OpenOffer[]): Promise<Seconds> {
  const seconds: Seconds = { returned: [], waited: [], peer: [] }
  const left = [...open.entries()]
  const acceptInTurn = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift())
      await acceptNext(setup, next, seconds)
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, acceptInTurn))
  return seconds
}

async function acceptNext(setup: Setup, [turn, offer]: [number, OpenOffer], seconds: Seconds): Promise<void> {
  const { page } = offer
  if (page === undefined) {
    await Promise.all([
      acceptUnseen(setup.till, offer),
      inTime(setup.peer.acceptAndWait(offer.person, offer.twin)),
    ])
    return
  }
  await delay(Math.random() * SPREAD_MS)
  if (turn % 2 === 0) seconds.returned.push(await secondsAfterReturn(setup, page))
  else seconds.waited.push(await secondsWithoutReturn(setup, { ...offer, page }, turn % 4 === 1))
  await page.close()
  await delay(Math.random() * SPREAD_MS)
  seconds.peer.push(await inTime(setup.peer.acceptAndWait(offer.person, offer.twin)))
}

type Requests = { ours: number; theirs: number; isFull: boolean }

function judge({ returned, waited, peer }: Seconds, { ours, theirs, isFull }: Requests): Outcome {
  const inS = (values: readonly number[]): string => `${median(values).toFixed(2)}s`
  console.log(
    `steam: slowest success shown: ${Math.max(...returned).toFixed(2)}s among the ${returned.length} who came back, ` +
      `${Math.max(...waited).toFixed(2)}s among the ${waited.length} who did not`,
  )
  const line = (name: string, values: readonly number[], limitS: number): Outcome => ({
    name,
    ours: inS(values),
    floor: inS(peer),
    ratio: median(values) / median(peer),
    limit: `<=${limitS}s`,
    passed: median(values) <= limitS,
  })
  const further = [
    line('steam-returned', returned, RETURNED_LIMIT_S),
    line('steam-waited', waited, WAITED_LIMIT_S),
  ]
  return {
    name: 'steam',
    ours: `${ours.toFixed(2)}/deposit`,
    floor: `${theirs.toFixed(2)}/deposit`,
    ratio: ours / theirs,
    limit: `<=${REQUESTS_LIMIT}`,
    passed: isFull && ours <= REQUESTS_LIMIT && further.every(({ passed }) => passed),
    further,
  }
}

/** Counts the requests to Steam's hosts by the port of the sandbox. Both sandboxes run in this process. */
function countRequests() {
  const counts = new Map<number, number>()
  type Arrived = { request: { headers: { host?: string }; socket: { localPort?: number } } }
  const countRequest = (message: unknown): void => {
    const { request } = message as Arrived
    const port = request.socket.localPort ?? 0
    if (STEAM_HOSTS.test(request.headers.host ?? '')) counts.set(port, (counts.get(port) ?? 0) + 1)
  }
  subscribe('http.server.request.start', countRequest)
  return {
    count: (port: number) => counts.get(port) ?? 0,
    end: () => unsubscribe('http.server.request.start', countRequest),
  }
}

/** Opens the offers one after another, because items of an open offer are not shown again. */
async function openOffers({ till, peer, windows }: Setup, person: string): Promise<OpenOffer[]> {
  const opened: OpenOffer[] = []
  const taken = new Set<string>()
  for (let turn = 0; turn < OFFERS_EACH; turn += 1) {
    const hash = await openVisit(till, randomUUID(), person)
    if (hash === undefined) throw new Error(`${person} got no deposit`)
    const page = turn < WINDOWS_EACH ? await windows.open() : undefined
    if (page === undefined) taken.add(await payUnseen(till, { hash, taken }))
    else await payOnPage(page, `${till.url}/deposit/${hash}`)
    const offerId = await eventually('the offer is open', async () => {
      const { status, steamTradeId } = await paymentOf(till, hash)
      return status === 'pending' && steamTradeId !== null ? steamTradeId : undefined
    })
    opened.push({ hash, person, offerId, page, twin: await peer.sendOffer(person) })
  }
  return opened
}

async function payOnPage(page: Page, url: string): Promise<void> {
  await page.goto(url)
  await switchLanguage(page, 'en')
  await page.getByRole('gridcell').first().waitFor()
  await sortDearestFirst(page, en)
  await pickItems(page, 1)
  await openOffer(page, en)
  await acceptLink(page).waitFor()
}

const acceptLink = (page: Page) => page.getByRole('link', { name: en.acceptInBrowser })

type Unseen = { hash: string; taken: ReadonlySet<string> }

async function payUnseen(till: ProcessTill, { hash, taken }: Unseen): Promise<string> {
  const shown = await showItems(till, hash, 'cs')
  const dearest = shown?.items.sort((a, b) => b.price - a.price).find(({ id }) => !taken.has(id))
  if (shown === undefined || dearest === undefined) throw new Error('no item was shown')
  await requestTrade(till, { hash, game: 'cs', items: [dearest.id], quoteId: shown.quoteId })
  return dearest.id
}

/** Sends no ETag, so the till also reads the offer on Steam again, at most every two seconds. */
async function paymentOf(till: ProcessTill, hash: string) {
  const answer = await call(till, `/api/payment?hash=${hash}`)
  if (answer === undefined) throw new Error('the gateway gave no answer, or only 429 and 5xx')
  return paymentSchema.parse(await answer.json())
}

async function acceptUnseen(till: ProcessTill, { hash, person, offerId }: OpenOffer): Promise<void> {
  const account = till.steam.as(person)
  const isOpen = account.received().some(({ id, state }) => id === offerId && state === STATE.active)
  if (!isOpen) throw new Error(`the offer ${offerId} is no longer open`)
  account.accept(offerId)
  await eventually('the deposit succeeded', async () => (await paymentOf(till, hash)).status === 'succeeded')
}

/**
 * Accepts in another tab and closes it, so the page is visible again. Resolves to the seconds until it shows success.
 */
async function secondsAfterReturn({ windows }: Setup, page: Page): Promise<number> {
  const succeeded = successOn(page)
  const tab = await leave(windows, page)
  await accept(tab)
  const beganMs = performance.now()
  await tab.close()
  return ((await inTime(succeeded)) - beganMs) / 1_000
}

/**
 * Accepts and stays on the trade page, with the till's page hidden behind it, or accepts on another device. Resolves to
 * the seconds from the last press, Confirm, to the success.
 */
async function secondsWithoutReturn(
  { till, windows }: Setup,
  { page, offerId }: OpenOffer & { page: Page },
  staysOnTradePage: boolean,
): Promise<number> {
  const succeeded = successOn(page)
  const elsewhere = staysOnTradePage ? await leave(windows, page) : await windows.open()
  if (!staysOnTradePage) {
    await elsewhere.goto(`${till.steam.url}/tradeoffer/${offerId}/`)
    await readyToAccept(elsewhere)
  }
  const beganMs = performance.now()
  await accept(elsewhere)
  const atMs = await inTime(succeeded)
  await elsewhere.close()
  return (atMs - beganMs) / 1_000
}

async function leave(windows: Windows, page: Page): Promise<Page> {
  const tab = await windows.tabOpenedBy(() => acceptLink(page).click())
  await tab.getByRole('button', { name: ACCEPTING[0], exact: true }).waitFor()
  await page.evaluate(
    () =>
      document.hidden ||
      new Promise((hidden) => document.addEventListener('visibilitychange', hidden, { once: true })),
  )
  await readyToAccept(tab)
  return tab
}

/** The button that confirms on the phone. */
const lastButton = (tab: Page) => tab.getByRole('button', { name: ACCEPTING[2], exact: true })

async function readyToAccept(tab: Page): Promise<void> {
  for (const name of ACCEPTING.slice(0, -1)) {
    await tab.getByRole('button', { name, exact: true }).click()
  }
  await lastButton(tab).waitFor()
}

async function accept(tab: Page): Promise<void> {
  await lastButton(tab).click()
  await tab.getByRole('status').waitFor()
}

/**
 * Resolves to the time when the page shows its success, on this process's clock. The page itself watches for it,
 * because a hidden page draws no frames, and Playwright waits for frames.
 */
function successOn(page: Page): Promise<number> {
  const shown = page.evaluate(
    (title) =>
      new Promise<void>((resolve) => {
        const look = (): void => {
          const dialogs = [...document.querySelectorAll('dialog[open], [role=dialog]')]
          if (dialogs.some(({ textContent }) => textContent?.includes(title))) resolve()
        }
        new MutationObserver(look).observe(document, {
          subtree: true,
          childList: true,
          characterData: true,
          attributes: true,
        })
        look()
      }),
    en.outcomes.succeeded.title,
  )
  const atMs = shown.then(() => performance.now())
  // Prevents an unhandled rejection if the caller fails before it awaits this.
  atMs.catch(() => {})
  return atMs
}

async function inTime(known: Promise<number>): Promise<number> {
  const late = delay(KNOWN_MS, undefined, { ref: false }).then(() => {
    throw new Error(`an acceptance was not noticed within ${KNOWN_MS} ms`)
  })
  return Promise.race([known, late])
}
