/** Whole payments, from the demo store's button to its balance, and the calls and logs that they leave. */
import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { DESKTOP, MOBILE } from './support/browser.ts'
import { balanceCents, storeSecrets } from './support/demo-store.ts'
import { readBotTokens, readOffers, readOffersTo, readPlayers } from './support/sandbox.ts'
import { openBrowser, openConfirmation, query, shopper, till } from './support/shared-till.ts'
import {
  answerInBrowser,
  centsOf,
  giveLinkAndAwaitItems,
  goFromStoreToOffer,
  openOffer,
  pickItems,
  sortDearestFirst,
  startTopUp,
  stopClock,
  TEXTS,
} from './support/shopper.ts'

/** Waits for the webhooks of earlier tests, then reads the store's balance at the till from the store's own books. */
async function readBalanceCents(): Promise<number> {
  await expect
    .poll(() => query(`select 1 from webhook_delivery where state = 'due' and attempts = 0`))
    .toEqual([])
  return balanceCents(till.store)
}

describe('a payment', () => {
  test.each([
    { language: 'en', viewport: DESKTOP },
    { language: 'ru', viewport: MOBILE },
  ] as const)(
    'A-017 A-049 in $language at $viewport.width px: one offer takes the items, and the balance grows by their total',
    async ({ language, viewport }) => {
      const { page } = await openBrowser({ viewport })
      const centsBefore = await readBalanceCents()
      const texts = await startTopUp(page, till, language)
      await expect.poll(() => page.getByRole('note').first().textContent()).toBe(texts.sandboxBanner)
      await giveLinkAndAwaitItems(page, texts, await shopper())
      await sortDearestFirst(page, texts)
      const total = await pickItems(page, 3)
      await openOffer(page, texts)

      const dialog = page.getByRole('dialog', { name: texts.confirmTitle })
      const code = await dialog.locator('output').textContent()
      const sentOffers = (await readOffers(till.sandbox)).filter((offer) => offer.message === code)
      expect(sentOffers).toHaveLength(1)
      expect(sentOffers[0]?.items).toHaveLength(3)

      await answerInBrowser(page, texts, 'Accept')
      const done = page.getByRole('dialog', { name: texts.outcomes.succeeded.title })
      expect(centsOf((await done.locator('.received strong').textContent()) ?? '')).toBe(total)
      await done.getByRole('link', { name: texts.backToStore }).click()
      await page.waitForURL(`${till.store}/?order=topup-*`)
      // The store's page has the language that was chosen at the till, and shows the balance without scrolling.
      await page.locator(`html[lang=${language}]`).waitFor()
      const balance = page.locator('#balances .amount').first()
      await expect.poll(async () => (await balance.boundingBox())?.y).toBeLessThan(viewport.height / 2)
      await expect.poll(() => balanceCents(till.store)).toBe(centsBefore + total)
      const pageWidth = await page.evaluate(() => document.documentElement.scrollWidth)
      expect(pageWidth).toBeLessThanOrEqual(viewport.width)
    },
  )

  test('A-105 every call repeats its cookie’s token in a header, and a call that changes something is refused without the token', async () => {
    const { page, context, seen } = await openBrowser()
    await startTopUp(page, till)
    await giveLinkAndAwaitItems(page, TEXTS.en, await shopper())
    const token = (await context.cookies(till.gateway)).find((cookie) => cookie.name === 'csrf')?.value
    expect(token).toMatch(/^[\w-]{16,}$/)
    const calls = seen.requests.filter(({ url }) => url.startsWith(`${till.gateway}/api/`))
    expect(calls.length).toBeGreaterThan(2)
    expect(calls.filter(({ headers }) => headers['x-csrf-token'] !== token)).toEqual([])

    const hash = page.url().slice(-32)
    const { tradeUrl } = await shopper()
    const refused = await fetch(`${till.gateway}/api/trade-url`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: till.gateway },
      body: JSON.stringify({ hash, tradeUrl }),
    })
    expect(refused.status).toBe(403)
    expect(await refused.json()).toMatchObject({ code: 'cross_site_token' })
  })

  test('A-107 all calls go to the gateway, and only pictures come from elsewhere', async () => {
    const { page, seen } = await openBrowser()
    await startTopUp(page, till)
    await giveLinkAndAwaitItems(page, TEXTS.en, await shopper())
    const foreign = seen.requests.filter(
      ({ url }) => ![till.gateway, till.store].includes(new URL(url).origin) && !url.startsWith('data:'),
    )
    expect(foreign.length).toBeGreaterThan(0)
    expect(new Set(foreign.map(({ type }) => type))).toEqual(new Set(['image']))
    expect(new Set(foreign.map(({ url }) => new URL(url).port))).toEqual(
      new Set([new URL(till.sandbox).port]),
    )
  })

  test('A-055 declining on the trade page opens the declined modal, nothing is credited, and the next deposit begins with the same picks', async () => {
    const { page } = await openBrowser()
    const centsBefore = await readBalanceCents()
    await goFromStoreToOffer(page, till, await shopper())
    await answerInBrowser(page, TEXTS.en, 'Decline')
    const modal = page.getByRole('dialog', { name: TEXTS.en.outcomes.tradeDeclined.title })
    await modal.getByRole('link', { name: TEXTS.en.scamApiKey }).waitFor()
    // If the offer was declined within seconds, as on a quick machine, the modal says "start again" instead.
    const backLink = modal.getByRole('link', { name: TEXTS.en.backToStore })
    await backLink.or(modal.getByRole('link', { name: TEXTS.en.startAgain })).waitFor()
    expect(await balanceCents(till.store)).toBe(centsBefore)
    await startTopUp(page, till)
    await page.getByRole('button', { name: TEXTS.en.tradeLinkContinue }).click()
    await expect.poll(() => page.locator('.summary-items li').count()).toBe(2)
  })

  test('A-061 leaving the confirmation ends the one-second polls, and coming back resumes them', async () => {
    const { page, seen } = await openConfirmation({}, ({ page }) => page.clock.install())
    const countPolls = (): number => seen.requests.filter(({ url }) => url.includes('/api/payment?')).length
    const pollsAtStart = countPolls()
    await expect.poll(countPolls).toBeGreaterThan(pollsAtStart)
    // Outside the confirmation, the page polls only every five seconds, so three seconds pass without a poll.
    await stopClock(page)
    await page.getByRole('button', { name: TEXTS.en.stepBack }).click()
    await page.getByText(TEXTS.en.offerWaiting).waitFor()
    const pollsAfterLeaving = countPolls()
    await page.clock.runFor(3000)
    expect(countPolls()).toBe(pollsAfterLeaving)
    await page.getByRole('button', { name: TEXTS.en.offerReturn }).click()
    await expect.poll(countPolls).toBeGreaterThan(pollsAfterLeaving)
  })

  test('pressing Add funds twice in quick succession sends one offer', async () => {
    const { page } = await openBrowser()
    const texts = await startTopUp(page, till)
    const guest = await shopper()
    await giveLinkAndAwaitItems(page, texts, guest)
    await sortDearestFirst(page, texts)
    await pickItems(page, 1)
    await page.getByRole('button', { name: texts.pay, exact: true }).evaluate((button) => {
      if (!(button instanceof HTMLElement)) throw new Error('the button is not an HTML element')
      button.click()
      button.click()
    })
    await page.getByRole('dialog', { name: texts.confirmTitle }).waitFor()
    expect(await readOffersTo(till.sandbox, guest)).toHaveLength(1)
  })

  test('no log line of any process contains a secret or a complete hash', async () => {
    const { context, page } = await openBrowser()
    await startTopUp(page, till)
    await giveLinkAndAwaitItems(page, TEXTS.en, await shopper())
    const cookies = (await context.cookies()).map((cookie) => cookie.value)
    const tokens = (await readPlayers(till.sandbox)).map(
      ({ tradeUrl }) => new URL(tradeUrl).searchParams.get('token') ?? '',
    )
    const secrets = {
      ...(await storeSecrets(till.root)),
      hash: page.url().slice(-32),
      ...Object.fromEntries([...cookies, ...tokens, ...(await readBotTokens(till.sandbox))].entries()),
    }
    const output = await readFile(till.outputFile, 'utf8')
    expect(output.length).toBeGreaterThan(100)
    // A shorter text could be part of another word.
    expect(Object.values(secrets).every((secret) => secret.length >= 6)).toBe(true)
    expect(Object.entries(secrets).filter(([, secret]) => output.includes(secret))).toEqual([])
    // Tokens of Steam, secrets of webhooks, and keys of the store API.
    expect(output).not.toMatch(/\bey[JA][\w-]{8,}\.[\w-]+\.[\w-]+|whsec_[A-Za-z0-9+/]{8}|tt_test_\w{8}_/)
  })
})
