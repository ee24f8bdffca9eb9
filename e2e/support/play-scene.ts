/** Plays a scene: the real page with fixed answers, the same in every run. */
import type { Page } from 'playwright-core'
import type { RefusalCause } from '../../contract/errors.ts'
import type { Language } from '../../contract/languages.ts'
import type { Bot } from '../../contract/widget-api.ts'
import { storeSecrets } from './demo-store.ts'
import { eventually } from './process.ts'
import { answerOffer, readPlayer } from './sandbox.ts'
import type { Answers, Base, Scene } from './scene.ts'
import { TEXTS } from './shopper.ts'
import type { Place } from './till.ts'
import { callerOf, makeOffer, newDeposit } from './widget-calls.ts'

/** Eight days after `NOON`. */
const HELD_UNTIL = '2026-03-09T12:00:00.000Z'

/**
 * Reads three things from a real till: a deposit with its shopper, the same deposit with an open offer, and an
 * inventory. Then replaces the shown values that differ between runs.
 */
export async function baseOf(till: Place): Promise<Base> {
  const tillWithSecrets = { place: till, secrets: await storeSecrets(till.root) }
  const { steamId, tradeUrl } = await readPlayer(till.sandbox)
  // Several test files decline an offer to the same shopper at one till. Deposits that are locked to the shopper are
  // exempt from the pause that follows.
  const caller = await callerOf(
    till.gateway,
    await newDeposit(tillWithSecrets, { shopper: { steamId, lock: true } }),
  )
  await caller.post('/api/trade-url', { tradeUrl })
  const inventory = await caller.inventory()
  const created = await caller.payment()
  const { offerId } = await makeOffer(caller)
  const pending = await caller.payment()
  await answerOffer(till.sandbox, offerId, 'decline')
  // Without the store's colour, the page uses its own.
  const fixed = { id: '1042', hash: '0'.repeat(32), storeAccent: null }
  // Either bot may have sent the offer.
  const fixedBot = (bot: Bot | null) =>
    bot && { ...bot, name: 'Tradetill Bot #2', level: 112, memberSince: '2015-03-09' }
  const offer = {
    steamTradeId: '8123456789',
    steamTradeMessage: 'K7QX2M',
    // One of the first item below, and two of the second.
    itemCount: 3,
    amount: 65_502,
    heldAmount: 25_502,
    heldUntil: HELD_UNTIL,
    heldBy: 'limit' as const,
    items: [
      { name: '★ Karambit | Doppler (Factory New)', phase: 'ruby' as const, price: 40_000, count: 1 },
      { name: 'AK-47 | Asiimov (Field-Tested)', price: 12_751, count: 2 },
    ],
  }
  return {
    inventory: {
      ...inventory,
      unavailableItems: 12,
      hold: inventory.hold && { ...inventory.hold, until: HELD_UNTIL },
    },
    payment: { ...created, ...fixed },
    pending: { ...pending, bot: fixedBot(pending.bot), ...fixed, ...offer, timeLeft: 234 },
  }
}

type Reply = { status: number; type: string; body: string | null }

/** The answers to the page's calls, by path; 'never' leaves a call unanswered. */
type Replies = Record<string, Reply | 'never'>

const json = (value: unknown): Reply => ({
  status: 200,
  type: 'application/json',
  body: JSON.stringify(value),
})
const emptyReply = (status: number): Reply => ({ status, type: '', body: null })

type Refused = { status: number; code: string; until?: string; cause?: RefusalCause }

/** Every problem has the same detail, because the page has its own texts for the codes of the scenes. */
function problem({ status, code, until, cause }: Refused): Reply {
  const body = JSON.stringify({ code, detail: TEXTS.en.paymentNotFound, until, cause })
  return { status, type: 'application/problem+json', body }
}

function repliesOf({ payment, inventory, link, price, trade }: Answers): Replies {
  const paymentOf = () =>
    payment === null ? problem({ status: 404, code: 'deposit_not_found' }) : json(payment)
  return {
    '/api/payment': payment === 'never' ? 'never' : paymentOf(),
    '/api/trade-url':
      link === 'never' ? 'never' : problem(link ?? { status: 422, code: 'invalid_trade_link' }),
    '/api/inventory': inventory === 'never' ? 'never' : json(inventory),
    '/api/price': price === undefined ? 'never' : json(price),
    '/api/trade': problem(trade ?? { status: 422, code: 'trade_refused' }),
    '/api/metrics': emptyReply(204),
  }
}

/** Runs in the page: answers its calls. Playwright's routes would pass all requests through the test, even pictures. */
function answerCalls(replies: Replies): void {
  const realFetch = window.fetch
  Reflect.set(window, 'replies', replies)
  window.fetch = (input, init) => {
    const reply = replies[new URL(input instanceof Request ? input.url : input, location.href).pathname]
    if (reply === undefined) return realFetch(input, init)
    if (reply === 'never') return new Promise(() => {})
    const { status, type, body } = reply
    return Promise.resolve(new Response(body, { status, headers: { 'content-type': type } }))
  }
}

/** From now on, a poll of the payment is answered with 304: nothing has changed. */
export async function answerNoChange(page: Page): Promise<void> {
  await page.evaluate((reply) => {
    Reflect.set(Reflect.get(window, 'replies'), '/api/payment', reply)
  }, emptyReply(304))
}

type PlayOptions = { gateway: string; base: Base; scene: Scene; language: Language; minute?: number }

const NOON = Date.parse('2026-03-01T12:00:00Z')

/** Runs in the page before its scripts: leaves only this language and link in the storage. */
function rememberOnly({ language, link }: { language: Language; link: string | undefined }): void {
  localStorage.clear()
  sessionStorage.clear()
  localStorage.setItem('language', language)
  if (link !== undefined) localStorage.setItem('tradeLink', link)
}

/**
 * Opens a scene with a stopped clock. A page that plays several scenes gives each a later minute; the gap must exceed
 * the duration of a scene.
 */
export async function playScene(
  page: Page,
  { gateway, base, scene, language, minute = 1 }: PlayOptions,
): Promise<void> {
  if (minute === 1) await page.clock.install({ time: NOON })
  // A minute after the clock's start, because a slow machine may need part of that minute to get here.
  await page.clock.pauseAt(NOON + minute * 60_000)
  // Both scripts are removed when this function returns.
  await using _memory = await page.addInitScript(rememberOnly, { language, link: scene.storedLink })
  await using _server = await page.addInitScript(answerCalls, repliesOf(scene.answers(base)))
  await page.goto(gateway + (scene.path ?? `/deposit/${base.payment.hash}`))
  // Time advances by these steps only, so a countdown is the same in every run.
  await eventually('the page is shown', async () => {
    await page.clock.runFor(50)
    return (await page.getByRole('banner').isVisible()) || undefined
  })
  await scene.steps(page, TEXTS[language])
  await page.clock.runFor(50)
}
