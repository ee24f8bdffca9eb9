import type { Page } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { PHASE_WORDS } from '../contract/item-name.ts'
import { steamPage } from '../widget/steam-pages.ts'
import { DESKTOP, MOBILE } from './support/browser.ts'
import { beginBehaviour, readOffersTo } from './support/sandbox.ts'
import {
  nextInventory,
  openDeposit,
  openStand,
  openTolerantContext,
  query,
  shopper,
  till,
} from './support/shared-till.ts'
import { giveLink, pickItems, switchLanguage } from './support/shopper.ts'

/** Names as the gateway passes them on: at most 200 characters, without marks that reverse the text. */
const NAMES = [
  'x'.repeat(200),
  'txet kcab',
  '<script>window.ran = 1</script>',
  '<img src=x onerror="window.ran = 1">',
  '"><svg onload=window.ran=1>',
]

/** Returns the parts that overflow their card, and notes if the page is too wide or the cards differ in height. */
function overflows(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const isWithin = (inner: DOMRect, outer: DOMRect): boolean =>
      inner.left >= outer.left - 1 &&
      inner.right <= outer.right + 1 &&
      inner.top >= outer.top - 1 &&
      inner.bottom <= outer.bottom + 1
    const cards = [...document.querySelectorAll('.card')]
    const overflowing = cards.flatMap((card) =>
      [...card.querySelectorAll('.card-thing, .card-name, .card-price')].filter(
        (part) => !isWithin(part.getBoundingClientRect(), card.getBoundingClientRect()),
      ),
    )
    const { scrollWidth, clientWidth } = document.documentElement
    const heights = new Set(cards.map((card) => Math.round(card.getBoundingClientRect().height)))
    return [
      ...overflowing.map((part) => `${part.className}: ${part.textContent?.slice(0, 30)}`),
      ...(scrollWidth > clientWidth ? [`page: ${scrollWidth} of ${clientWidth} px`] : []),
      ...(heights.size > 1 ? [`cards: ${[...heights].join(', ')} px high`] : []),
    ]
  })
}

/** Returns traces of names that ran or became elements. Policy violations fail a test at its end. */
function harmOf(page: Page): Promise<unknown> {
  return page.evaluate(() => ({
    ran: 'ran' in window,
    scripts: [...document.scripts].filter(({ text }) => text.includes('ran')).length,
    elements: document.querySelectorAll('[onerror], [onload], img[src="x"], .card-name *, .card-thing *')
      .length,
  }))
}
const NO_HARM = { ran: false, scripts: 0, elements: 0 }

describe.each([
  { language: 'en', viewport: DESKTOP },
  { language: 'ru', viewport: MOBILE },
] as const)('in $language at $viewport.width px', ({ language, viewport }) => {
  test('A-043 names with HTML, scripts, 10,000 letters or reversing marks are shown as text within their cards', async () => {
    const guest = await shopper('magic_declines')
    const { off } = await beginBehaviour(till.sandbox, 'inventory-hostile-names', { steamId: guest.steamId })
    onTestFinished(off)
    const { page, texts } = await openDeposit({ language, viewport })
    const [inventory] = await Promise.all([nextInventory(page), giveLink(page, texts, guest)])
    await page.getByRole('gridcell').first().waitFor()

    const search = page.getByRole('searchbox', { name: texts.search })
    if (viewport === MOBILE) await page.getByRole('button', { name: texts.searchOpen }).click()
    for (const name of NAMES) {
      expect(inventory.items.map((item) => item.name)).toContain(name)
      await search.fill(name)
      const card = page.getByRole('gridcell').first()
      // A Doppler has its phase after the name.
      const names = inventory.items
        .filter((item) => item.name === name)
        .map(({ phase }) => (phase ? `${name} ${PHASE_WORDS[language][phase]}` : name))
      const nameElement = card.locator('.card-name')
      await expect.poll(async () => names.includes((await nameElement.textContent()) ?? '')).toBe(true)
      await expect
        .poll(async () => names.includes((await nameElement.getAttribute('title')) ?? ''))
        .toBe(true)
      await card.click()
      expect(await overflows(page)).toEqual([])
    }
    await search.fill('')
    expect(await overflows(page)).toEqual([])
    await expect.poll(() => page.locator('.card-selected').count()).toBeGreaterThan(0)
    await switchLanguage(page, language === 'en' ? 'ru' : 'en')
    await page.getByRole('gridcell').first().waitFor()
    expect(await overflows(page)).toEqual([])
    expect(await harmOf(page)).toEqual(NO_HARM)
  })
})

test.each([
  [
    'is not available to trade',
    'magic_cannot_trade',
    'account_restricted',
    steamPage('restrictions', till.sandbox),
  ],
  ['has a trade ban', 'magic_banned', 'trade_ban', `${till.store}/`],
] as const)(
  'a shopper who %s learns this after a press on Add funds; no offer is made, and the deposit stays open',
  async (_what, who, cause, target) => {
    const { page, texts, deposit } = await openStand({ who })
    const guest = await shopper(who)
    await page.getByRole('combobox', { name: texts.sort }).selectOption('priceDown')
    await pickItems(page, 2)
    await page.getByRole('button', { name: texts.pay, exact: true }).click()
    const refusal = page.getByRole('dialog', { name: texts.creationErrorTitle })
    await refusal.getByText(texts.creationCauses[cause] ?? '').waitFor()
    await expect.poll(() => refusal.locator('.primary').getAttribute('href')).toBe(target)
    expect(await readOffersTo(till.sandbox, guest)).toEqual([])
    expect(await query('select state, reason from trade where deposit_id = $1', [deposit.id])).toEqual([
      { state: 'refused', reason: 'trade_refused' },
    ])
    await refusal.getByRole('button', { name: texts.close }).click()
    await refusal.waitFor({ state: 'detached' })
    expect(await query('select status from deposit where id = $1', [deposit.id])).toEqual([
      { status: 'created' },
    ])
    // The picks are kept, and the button works: Steam refuses again.
    await page.getByRole('button', { name: texts.pay, exact: true }).click()
    await refusal.getByText(texts.creationCauses[cause] ?? '').waitFor()
    expect(await readOffersTo(till.sandbox, guest)).toEqual([])
  },
)

test('a foreign page cannot show ours in a frame', async () => {
  const { deposit, texts } = await openDeposit()
  const context = await openTolerantContext()
  await context.route('http://evil.test/', (route) =>
    route.fulfill({ contentType: 'text/html', body: `<iframe src="${deposit.url}"></iframe>` }),
  )
  const openFramed = async () => {
    const page = await context.newPage()
    await page.goto('http://evil.test/')
    const frame = page.frames()[1]
    if (frame === undefined) throw new Error('the foreign page has no frame')
    return frame
  }
  const refused = await openFramed()
  await expect.poll(() => refused.url()).toMatch(/^chrome-error:/)
  // Without these headers the same frame shows the page, so the headers blocked it.
  await context.route(deposit.url, async (route) => {
    const response = await route.fetch()
    const { 'x-frame-options': _options, 'content-security-policy': _policy, ...headers } = response.headers()
    await route.fulfill({ response, headers })
  })
  await (await openFramed()).getByRole('textbox', { name: texts.tradeLink }).waitFor()
})
