import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import type { Messages } from '../widget/i18n/en.ts'
import { answerOffer, offers, player } from './sandbox.ts'
import { giveLink, pay, pickItems, speak, TEXTS } from './shopper.ts'
import { callsTo, type Opened, openDeposit, till } from './stage.ts'

type Stage = Parameters<typeof openDeposit>[0]

async function picked(stage: Stage = {}): Promise<Opened> {
  const opened = await openDeposit(stage)
  const { page, texts } = opened
  await giveLink(page, texts, await player(till.sandbox))
  await pickItems(page, 1)
  return opened
}

async function standing(stage: Stage = {}): Promise<Opened> {
  const opened = await picked(stage)
  await pay(opened.page, opened.texts)
  return opened
}

const confirmation = (page: Page, texts: Messages) => page.getByRole('dialog', { name: texts.confirmTitle })
const success = (page: Page, texts: Messages) =>
  page.getByRole('dialog', { name: texts.outcomes.succeeded.title })

async function offerOf(page: Page, texts: Messages): Promise<string> {
  const link = confirmation(page, texts).getByRole('link', { name: texts.acceptInBrowser })
  return /(\d+)\/$/.exec((await link.getAttribute('href')) ?? '')?.[1] ?? ''
}

/** What a browser tells a page that comes into sight again. */
const comeBack = (page: Page): Promise<boolean> =>
  page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))

test('offline while the offer is accepted: said at once, and the truth is there when the line is back', async () => {
  const { page, context, texts } = await standing()
  const offer = await offerOf(page, texts)
  await context.setOffline(true)
  await page.getByText(texts.offline).waitFor()
  await page.locator('.toast').first().waitFor()
  await answerOffer(till.sandbox, offer, 'accept')
  await expect.poll(async () => (await offers(till.sandbox)).find(({ id }) => id === offer)?.state).toBe(3)
  expect(await confirmation(page, texts).isVisible()).toBe(true)
  await context.setOffline(false)
  await success(page, texts).waitFor()
})

test('A-061 500s while polling are told once; the modal stays, and the polls go on', async () => {
  const opened = await standing()
  const { page, texts } = opened
  const offer = await offerOf(page, texts)
  let failed = 0
  await page.route('**/api/payment?*', async (route) => {
    failed += 1
    await route.fulfill({ status: 500, body: 'no' })
  })
  await expect.poll(() => failed, { timeout: 15_000 }).toBeGreaterThan(3)
  expect(await page.locator('.toast-error').count()).toBe(1)
  expect(await confirmation(page, texts).isVisible()).toBe(true)
  await page.unroute('**/api/payment?*')
  await answerOffer(till.sandbox, offer, 'accept')
  await success(page, texts).waitFor()
})

test('a lost answer to Pay is no failure: the same call is repeated and joins the one offer', async () => {
  const opened = await picked()
  const { page, texts } = opened
  const before = (await offers(till.sandbox)).length
  let lost = 0
  await page.route('**/api/trade', async (route) => {
    lost += 1
    if (lost > 1) return route.continue()
    await route.fetch()
    await route.abort()
  })
  await pay(page, texts)
  expect(callsTo(opened, '/api/trade').length).toBeGreaterThan(1)
  expect((await offers(till.sandbox)).length).toBe(before + 1)
})

test('a reload in every state shows the same truth', async () => {
  const { page, texts } = await openDeposit()
  const link = page.getByRole('textbox', { name: texts.tradeLink })
  await link.waitFor()
  await page.reload()
  await giveLink(page, texts, await player(till.sandbox))
  await page.reload()
  await pickItems(page, 1)
  const sending = Promise.withResolvers<void>()
  await page.route('**/api/trade', async (route) => {
    await route.fetch()
    await sending.promise
    await route.abort().catch(() => {})
  })
  await page.getByRole('button', { name: texts.pay, exact: true }).click()
  await page.getByRole('dialog', { name: texts.creatingTitle }).waitFor()
  await page.reload()
  sending.resolve()
  await confirmation(page, texts).waitFor()
  await page.reload()
  await answerOffer(till.sandbox, await offerOf(page, texts), 'accept')
  await success(page, texts).waitFor()
  await page.reload()
  await success(page, texts).waitFor()
})

test('two tabs: what happens in one is seen in the other when it comes into sight', async () => {
  const { page, context, deposit, texts } = await picked()
  const other = await context.newPage()
  await other.goto(deposit.url)
  await other.getByRole('gridcell').first().waitFor()
  await pay(page, texts)
  expect(await other.getByRole('dialog').count()).toBe(0)
  await comeBack(other)
  await confirmation(other, texts).waitFor()
  await answerOffer(till.sandbox, await offerOf(page, texts), 'accept')
  await Promise.all([success(page, texts).waitFor(), success(other, texts).waitFor()])
})

test('back and forward lead to the same truth', async () => {
  const { page, texts } = await standing()
  await page.goto(`${till.gateway}/help`)
  await page.goBack()
  await confirmation(page, texts).waitFor()
  await page.goForward()
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.goBack()
  await answerOffer(till.sandbox, await offerOf(page, texts), 'accept')
  await success(page, texts).waitFor()
})

test.each([-1, 1])('a browser whose clock is %i day off counts the same five minutes', async (days) => {
  const opened = await openDeposit()
  const { page, texts } = opened
  await page.clock.install({ time: Date.now() + days * 86_400_000 })
  await page.reload()
  await giveLink(page, texts, await player(till.sandbox))
  await pickItems(page, 1)
  await pay(page, texts)
  await expect.poll(() => page.getByRole('timer').textContent()).toMatch(/^0[45]:\d\d$/)
})

test('a blocked storage costs only the memory', async () => {
  const { page, context, texts } = await openDeposit()
  await context.addInitScript(() => {
    Object.defineProperty(window, 'localStorage', {
      get() {
        throw new DOMException('denied', 'SecurityError')
      },
    })
  })
  await page.reload()
  await giveLink(page, texts, await player(till.sandbox))
  await speak(page, 'ru')
  await pickItems(page, 1)
  await pay(page, TEXTS.ru)
})

describe('A-067 a browser', () => {
  test('that blocks sound shows the modal all the same', async () => {
    const { page, context, texts } = await openDeposit()
    await context.addInitScript(() => {
      HTMLMediaElement.prototype.play = () => Promise.reject(new DOMException('blocked', 'NotAllowedError'))
    })
    await page.reload()
    await giveLink(page, texts, await player(till.sandbox))
    await pickItems(page, 1)
    await pay(page, texts)
    await answerOffer(till.sandbox, await offerOf(page, texts), 'decline')
    await page.getByRole('dialog', { name: texts.outcomes.tradeDeclined.title }).waitFor()
    await page.getByRole('button', { name: texts.stopSound }).waitFor({ state: 'detached' })
  })
})

test('translation extensions are asked to leave amounts alone: the page speaks for itself', async () => {
  const { page, texts } = await picked()
  expect(await page.locator('html').getAttribute('translate')).toBe('no')
  expect(await page.locator('.notranslate').count()).toBe(1)
  expect(texts.pay).toBeTruthy()
})
