import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import type { FinalDepositStatus } from '../contract/statuses.ts'
import type { Messages } from '../widget/i18n/en.ts'
import { formatMoney } from '../widget/i18n/format.ts'
import { DESKTOP, MOBILE } from './support/browser.ts'
import { eventually } from './support/process.ts'
import { answerOffer, beginBehaviour } from './support/sandbox.ts'
import {
  createDeposit,
  endDeposit,
  openBrowser,
  openConfirmation,
  query,
  shopper,
  till,
} from './support/shared-till.ts'
import { TEXTS, tickUntil } from './support/shopper.ts'
import { callerOf, makeOffer, type OpenedDeposit } from './support/widget-calls.ts'

/** Moves the send an hour ahead, so the offer counts as ended within seconds of its send, even on a slow machine. */
const makeRecent = (deposit: string) =>
  query(`update trade set send_started_at = now() + interval '1 hour' where deposit_id = $1`, [deposit])

/**
 * The cause of each outcome: what the shopper, Steam or the clock does. `who`: the shopper who gets the offer; empty if
 * there is none.
 */
const CAUSES: Record<
  FinalDepositStatus,
  { who: string; cause(offerId: string, deposit: string): Promise<void> }
> = {
  succeeded: { who: 'nova_hound', cause: (offerId) => answerOffer(till.sandbox, offerId, 'accept') },
  tradeDeclined: {
    who: 'magic_declines',
    cause: async (offerId, deposit) => {
      await makeRecent(deposit)
      await answerOffer(till.sandbox, offerId, 'decline')
    },
  },
  tradeCountered: {
    who: 'magic_counters',
    cause: (offerId) => answerOffer(till.sandbox, offerId, 'counter'),
  },
  // This shopper sells an offered item within seconds, so Steam ends the offer.
  tradeHasInvalidItems: { who: 'magic_seller', cause: async () => {} },
  tradeTimeout: {
    who: 'quiet_lynx',
    cause: async (_offerId, deposit) => {
      await query(`update trade set deadline = now() where deposit_id = $1`, [deposit])
    },
  },
  paymentTimeout: {
    who: '',
    cause: async (_offerId, deposit) => {
      await query(`update deposit set expires_at = now() where id = $1`, [deposit])
    },
  },
}

type Ended = { deposit: OpenedDeposit; amount: number }

const ended = new Map<FinalDepositStatus, Ended>()

async function bringTo(status: FinalDepositStatus): Promise<void> {
  const { who, cause } = CAUSES[status]
  const deposit = await createDeposit()
  const caller = await callerOf(till.gateway, deposit)
  let amount = 0
  let offerId = ''
  if (who !== '') {
    const { tradeUrl } = await shopper(who)
    await caller.post('/api/trade-url', { tradeUrl })
    ;({ offerId, amount } = await makeOffer(caller))
  }
  await cause(offerId, deposit.id)
  await eventually(
    `a deposit is ${status}`,
    async () => (await caller.payment()).status === status || undefined,
  )
  ended.set(status, { deposit, amount })
}

const FAILED_STATUSES: FinalDepositStatus[] = [
  'tradeHasInvalidItems',
  'tradeTimeout',
  'tradeDeclined',
  'tradeCountered',
  'paymentTimeout',
]

beforeAll(async () => {
  // First, because open offers use the store's limit too, and a part of this credit must be within it.
  await bringTo('succeeded')
  await Promise.all(FAILED_STATUSES.map(bringTo))
})

function endedDeposit(status: FinalDepositStatus): Ended {
  const found = ended.get(status)
  if (found === undefined) throw new Error(`no deposit reached ${status}`)
  return found
}

async function openEnded(
  status: FinalDepositStatus,
  language: 'en' | 'ru',
  viewport = DESKTOP,
): Promise<Page> {
  const { page, context } = await openBrowser({ viewport })
  await context.addInitScript((value) => localStorage.setItem('language', value), language)
  await context.addInitScript(RECORD_SOUNDS)
  await page.goto(endedDeposit(status).deposit.url)
  return page
}

/** The texts that the specification fixes. */
const SPECIFIED_TEXTS = {
  succeeded: /We have your items.*added to your balance in the store shortly/,
  tradeTimeout: /did not receive the items in time.*try again, or contact support/,
  tradeDeclined: /declined/,
  tradeCountered: /counteroffer was declined/,
  tradeHasInvalidItems: /try again, or contact support/,
}

/** The acceptance criterion about each outcome. */
const ACCEPTANCE_NUMBERS = {
  succeeded: 'A-053',
  tradeTimeout: 'A-054',
  tradeDeclined: 'A-055',
  tradeCountered: 'A-056',
  tradeHasInvalidItems: 'A-057',
} as const

type ModalStatus = keyof typeof ACCEPTANCE_NUMBERS

const MODAL_STATUSES: ModalStatus[] = [
  'succeeded',
  'tradeTimeout',
  'tradeDeclined',
  'tradeCountered',
  'tradeHasInvalidItems',
]

const backLink = (page: Page, texts: Messages) =>
  page.getByRole('dialog').getByRole('link', { name: texts.backToStore })

type Sounds = { volume: number; loop: boolean; playing: boolean }[]

/** Runs in the page: records every sound that it makes. */
const RECORD_SOUNDS = `
  window.heard = []
  HTMLMediaElement.prototype.play = function () {
    window.heard.push(this)
    this.sounding = true
    return Promise.resolve()
  }
  HTMLMediaElement.prototype.pause = function () {
    this.sounding = false
  }
`

const soundsOf = (page: Page): Promise<Sounds> =>
  page.evaluate(() => {
    const sounds: (HTMLMediaElement & { sounding: boolean })[] = Reflect.get(window, 'heard')
    return sounds.map(({ volume, loop, sounding }) => ({ volume, loop, playing: sounding }))
  })

const expectScamWarning = async (page: Page): Promise<void> => {
  const link = page.getByRole('dialog').getByRole('link', { name: TEXTS.en.scamApiKey })
  await expect.poll(() => link.getAttribute('href')).toBe('https://steamcommunity.com/dev/apikey')
  await expect.poll(() => page.locator('dialog .scam-steps li').count()).toBeGreaterThanOrEqual(3)
}

/**
 * Matches the words between the amount and the date in the sentence about a payment in parts. The sentence has two
 * forms: before the store has confirmed the payment, and after.
 */
const partsSentence = (texts: Messages): RegExp =>
  new RegExp(
    [texts.receivedInParts, texts.knownToStoreInParts]
      .map((sentence) => sentence('|', '|').split('|')[1]?.trim())
      .join('|'),
  )

const FURTHER_CHECKS: Partial<Record<ModalStatus, (page: Page) => Promise<void>>> = {
  tradeTimeout: async (page) => {
    // A finished deposit cannot be paid again behind the modal.
    expect(await page.locator('button.pay:not([aria-disabled=true])').count()).toBe(0)
  },
  tradeCountered: expectScamWarning,
  tradeDeclined: async (page) => {
    await expectScamWarning(page)
    // The offer was declined within seconds, so the page warns of a stolen key and says what to do.
    await page.getByText(TEXTS.en.stolenKeyText).waitFor()
    for (const step of TEXTS.en.stolenKeySteps) await page.getByText(step).waitFor()
    await page.getByText(TEXTS.en.declinedByYou).waitFor()
    // The page was opened after the decline, so there is no sound.
    expect(await soundsOf(page)).toEqual([])
  },
}

describe('A-023 A-024 A-027 A-052 A-053 A-054 A-055 A-056 A-057 A-067 the modal of an ended deposit', () => {
  test.each(
    MODAL_STATUSES.flatMap((status) => [
      { number: ACCEPTANCE_NUMBERS[status], status, language: 'en', viewport: DESKTOP } as const,
      { number: ACCEPTANCE_NUMBERS[status], status, language: 'ru', viewport: MOBILE } as const,
    ]),
  )(
    '$number A-026 for $status in $language says what happened and what to do, and locks the page behind it',
    async ({ status, language, viewport }) => {
      const page = await openEnded(status, language, viewport)
      const texts = TEXTS[language]
      const { title } = texts.outcomes[status]
      // The sum is above the store's limit, so a part of it comes later.
      const description = (messages: Messages) =>
        status === 'succeeded' ? partsSentence(messages) : messages.outcomes[status].description
      const dialog = page.getByRole('dialog', { name: title })
      await dialog.getByText(description(texts)).waitFor()
      // The dialog opens at its top, with the outcome and the next step.
      await expect.poll(() => page.locator('dialog').evaluate(({ scrollTop }) => scrollTop)).toBe(0)
      const pageOverflow = () => page.evaluate(() => getComputedStyle(document.documentElement).overflowY)
      await expect.poll(pageOverflow).toBe('hidden')
      if (status === 'succeeded')
        expect(TEXTS.en.receivedInParts('$1', 'a day')).toMatch(SPECIFIED_TEXTS[status])
      expect(TEXTS.en.outcomes[status].description).toMatch(SPECIFIED_TEXTS[status])
      await expect.poll(() => dialog.locator('svg.outcome-icon').count()).toBe(1)
      const back =
        status === 'tradeDeclined'
          ? dialog.getByRole('link', { name: texts.startAgain })
          : backLink(page, texts)
      await expect.poll(() => back.getAttribute('href')).toBe(`${till.store}/`)
      const received = dialog.locator('.received strong')
      await expect
        .poll(() => received.allTextContents())
        .toEqual(status === 'succeeded' ? [formatMoney(endedDeposit(status).amount, 'USD', language)] : [])
      const [trade] = await query('select steam_offer_id from trade where deposit_id = $1', [
        endedDeposit(status).deposit.id,
      ])
      await dialog.getByText(texts.offerNumber(String(trade?.steam_offer_id))).waitFor()
      await page.locator('.stand').waitFor({ state: 'detached' })
      await page.locator('.skeletons').waitFor({ state: 'detached' })
      if (language === 'en') await FURTHER_CHECKS[status]?.(page)
    },
  )

  test.each(['en', 'ru'] as const)(
    'A-058 A-027 for paymentTimeout has a neutral sentence and the way back, in %s',
    async (language) => {
      const page = await openEnded('paymentTimeout', language)
      const texts = TEXTS[language]
      const dialog = page.getByRole('dialog', { name: texts.depositTo('Ember Forge') })
      await dialog.getByText(texts.closedNote).waitFor()
      expect(await dialog.locator('svg.outcome-icon, h2, .outcome-description').count()).toBe(0)
      await expect.poll(() => backLink(page, texts).getAttribute('href')).toBe(`${till.store}/`)
    },
  )
})

test('D-24 an offer that Steam holds ends the deposit, and the page names the hold as the reason', async () => {
  const caller = await callerOf(till.gateway, await createDeposit())
  const { steamId, tradeUrl } = await shopper()
  await caller.post('/api/trade-url', { tradeUrl })
  const { offerId } = await makeOffer(caller)
  await beginBehaviour(till.sandbox, 'hold-15-days', { steamId })
  await answerOffer(till.sandbox, offerId, 'accept')
  const { page } = await openBrowser()
  await page.goto(`${till.gateway}/deposit/${caller.hash}`)
  await page.getByRole('dialog', { name: 'Steam put the trade on hold' }).waitFor()
  expect(await page.getByText(TEXTS.en.outcomes.tradeHasInvalidItems.description).count()).toBe(0)
})

test('A-054 if somebody else cancels an offer within seconds, the page says how to secure the account', async () => {
  const caller = await callerOf(till.gateway, await createDeposit())
  await caller.post('/api/trade-url', { tradeUrl: (await shopper()).tradeUrl })
  const { offerId } = await makeOffer(caller)
  await makeRecent(caller.depositId)
  await answerOffer(till.sandbox, offerId, 'cancel')
  const { page } = await openBrowser()
  await page.goto(`${till.gateway}/deposit/${caller.hash}`)
  await page.getByRole('dialog', { name: TEXTS.en.cancelledElsewhere.title }).waitFor()
  await page.getByText(TEXTS.en.checkAccountTitle).waitFor()
  await expectScamWarning(page)
})

test('A-067 if an offer is declined while the page shows it, an alarm loops quietly until 1.5 s after a mouse move', async () => {
  const { page, deposit, offerId, texts } = await openConfirmation({}, async (visited) => {
    await visited.context.addInitScript(RECORD_SOUNDS)
    await visited.page.clock.install()
  })
  await endDeposit(deposit, offerId, 'decline')
  await page.getByRole('dialog', { name: texts.outcomes.tradeDeclined.title }).waitFor()
  await page.getByRole('button', { name: texts.stopSound }).waitFor()
  await expect.poll(() => soundsOf(page)).toEqual([{ volume: 0.2, loop: true, playing: true }])
  // Ten minutes later, the alarm still sounds.
  await page.clock.pauseAt(Date.now() + 600_000)
  expect((await soundsOf(page))[0]?.playing).toBe(true)
  await page.evaluate(() =>
    addEventListener('mousemove', () => Reflect.set(window, 'mouseMoved', true), { once: true }),
  )
  await page.mouse.move(300, 300)
  await page.mouse.move(310, 310)
  await expect.poll(() => page.evaluate(() => Reflect.get(window, 'mouseMoved'))).toBe(true)
  await page.clock.runFor(1499)
  expect((await soundsOf(page))[0]?.playing).toBe(true)
  await page.clock.runFor(1)
  expect((await soundsOf(page))[0]?.playing).toBe(false)
  await page.getByRole('button', { name: texts.stopSound }).waitFor({ state: 'detached' })
})

test('A-064 A-100 each visit to the page of a paid deposit redirects to its redirectUrl once', async () => {
  const thanksUrl = `${till.store}/?thanks`
  const { page, seen, deposit, offerId, texts } = await openConfirmation(
    { deposit: { redirectUrl: thanksUrl } },
    ({ page }) => page.clock.install(),
  )
  const countVisits = () => seen.requests.filter(({ url }) => url === thanksUrl).length
  await endDeposit(deposit, offerId)
  // The redirect waits until the shopper has had time to read the outcome.
  await tickUntil(page, async () => page.url() === thanksUrl)
  expect(countVisits()).toBe(1)
  // The redirect replaced the deposit in the browser's history, so Back reaches the page before the deposit: the empty
  // first page.
  await page.goBack()
  await page.waitForURL('about:blank')
  // A 204 keeps the browser on the page.
  await page.route(thanksUrl, (route) => route.fulfill({ status: 204 }))
  await page.goto(deposit.url, { waitUntil: 'commit' })
  await tickUntil(page, async () => countVisits() === 2)
  await page.getByRole('dialog', { name: texts.outcomes.succeeded.title }).waitFor()
  // Switching back to the tab, or getting online again, must not redirect once more.
  await page.evaluate(async () => {
    document.dispatchEvent(new Event('visibilitychange'))
    window.dispatchEvent(new Event('online'))
    await new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)))
  })
  await page.clock.runFor(10_000)
  expect(countVisits()).toBe(2)
})
