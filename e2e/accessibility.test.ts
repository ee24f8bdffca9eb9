/** The page and the receipt for shoppers who use only a keyboard, a screen reader, forced colours or reduced motion. */
import type { CDPSession, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { RECEIPT_HEADERS, refusedPage } from '../gateway/receipts/page.ts'
import { violations } from './support/axe.ts'
import { MOBILE, SMALL_DESKTOP } from './support/browser.ts'
import { answerNoChange, baseOf, playScene } from './support/play-scene.ts'
import { eventually } from './support/process.ts'
import { SCENES } from './support/scenes.ts'
import {
  endDeposit,
  openBrowser,
  openConfirmation,
  openDeposit,
  query,
  shopper,
  till,
} from './support/shared-till.ts'
import { ACCEPTING, giveLink, pickItems, TEXTS } from './support/shopper.ts'

/** Presses Tab until an element with `name` in its label or role has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  const focused = (): Promise<string> =>
    page.evaluate(() => {
      const element = document.activeElement?.matches('a, button, input, [role=gridcell]')
        ? document.activeElement
        : null
      const label =
        element instanceof HTMLInputElement ? element.labels?.[0]?.textContent : element?.textContent
      return `${element?.getAttribute('aria-label') ?? ''} ${element?.getAttribute('role') ?? ''} ${label ?? ''}`
    })
  for (let presses = 0; presses < 60; presses += 1) {
    if ((await focused()).includes(name)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not reach ${name}`)
}

test('A-085 a key held down picks an item once, and Ctrl+A picks all items in a Russian layout too', async () => {
  const { page, texts } = await openDeposit()
  await giveLink(page, texts, await shopper())
  const cell = page.getByRole('gridcell').first()
  const countPicked = () => page.getByRole('gridcell', { selected: true }).count()
  for (const key of [' ', 'Enter']) {
    await cell.focus()
    // The second event of a held key has `repeat`.
    for (const _ of [1, 2]) await page.keyboard.down(key)
    await page.keyboard.up(key)
    await expect.poll(countPicked).toBe(key === ' ' ? 1 : 0)
  }
  await cell.dispatchEvent('keydown', { key: 'ф', code: 'KeyA', ctrlKey: true })
  await expect.poll(countPicked).toBeGreaterThan(1)
})

test('A-085 a shopper can pay with the keyboard alone', async () => {
  const { page, context, texts } = await openDeposit()
  const { tradeUrl } = await shopper()
  await page.getByRole('textbox').waitFor()
  await tabTo(page, texts.tradeLink)
  await page.keyboard.insertText(tradeUrl)
  await page.getByRole('gridcell').first().waitFor()
  await tabTo(page, 'gridcell')
  await page.keyboard.press('Space')
  await page.keyboard.press('ArrowRight')
  await page.locator('[data-index="1"]:focus').waitFor()
  await page.keyboard.press('Space')
  await expect.poll(() => page.getByRole('gridcell', { selected: true }).count()).toBe(2)
  await page.keyboard.press('End')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Home')
  // Waits for the first card of the second row. Otherwise the focus could still be moving, and Enter would pick an item.
  await page.locator('[data-index="4"]:focus').waitFor()
  await tabTo(page, texts.pay)
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: texts.confirmTitle })
  await dialog.waitFor()
  await expect.poll(() => dialog.evaluate((element) => element.contains(document.activeElement))).toBe(true)
  await tabTo(page, texts.stepBack)
  await page.keyboard.press('Enter')
  // The button that had the focus is gone: the one that replaced it gets the focus.
  await page.locator('.pay:focus').waitFor()
  await page.keyboard.press('Enter')
  await dialog.waitFor()
  await tabTo(page, texts.acceptInBrowser)
  const opened = context.waitForEvent('page')
  await page.keyboard.press('Enter')
  const tab = await opened
  for (const name of ACCEPTING) {
    await tab.getByRole('button', { name, exact: true }).waitFor()
    await tabTo(tab, name)
    await tab.keyboard.press('Enter')
  }
  await tab.getByRole('status').waitFor()
  await tab.close()
  await page.getByRole('dialog', { name: texts.outcomes.succeeded.title }).waitFor()
  await tabTo(page, texts.backToStore)
  await page.keyboard.press('Enter')
  await page.waitForURL(`${till.store}/`)
})

type Found = { backendDOMNodeId: number }

/** Uses a page through its accessibility tree alone, like a screen reader. */
function screenReader(session: CDPSession) {
  const find = (role: string, name: string): Promise<Found> =>
    eventually(`a ${role} called ${name}`, async () => {
      const { nodes } = await session.send('Accessibility.getFullAXTree')
      const node = nodes.find(
        (each) =>
          !each.ignored &&
          each.role?.value === role &&
          String(each.name?.value ?? '').includes(name) &&
          !each.properties?.some((property) => property.name === 'disabled' && property.value.value),
      )
      const id = node?.backendDOMNodeId
      return id === undefined ? undefined : { backendDOMNodeId: id }
    })
  return {
    find,
    async press(role: string, name: string) {
      const { backendDOMNodeId: backendNodeId } = await find(role, name)
      const { object } = await session.send('DOM.resolveNode', { backendNodeId })
      const { objectId = '' } = object
      await session.send('Runtime.callFunctionOn', {
        objectId,
        functionDeclaration: 'function () { this.click() }',
      })
    },
    async write(role: string, name: string, text: string) {
      const { backendDOMNodeId: backendNodeId } = await find(role, name)
      await session.send('DOM.focus', { backendNodeId })
      await session.send('Input.insertText', { text })
    },
  }
}

test.each(['en', 'ru'] as const)(
  'a shopper can pay through the accessibility tree alone, in %s',
  async (language) => {
    const { page, context, texts } = await openDeposit({ language, viewport: MOBILE })
    const tree = screenReader(await context.newCDPSession(page))
    await tree.find('heading', texts.guideTitle)
    await tree.write('textbox', texts.tradeLink, (await shopper()).tradeUrl)
    await tree.press('gridcell', '$')
    await tree.press('button', texts.pay)
    await tree.find('dialog', texts.confirmTitle)
    await tree.find('timer', '')
    const opened = context.waitForEvent('page')
    await tree.press('link', texts.acceptInBrowser)
    const tab = await opened
    const steam = screenReader(await context.newCDPSession(tab))
    for (const name of ACCEPTING) await steam.press('button', name)
    await tab.getByRole('status').waitFor()
    await tree.find('dialog', texts.outcomes.succeeded.title)
    await tree.find('link', texts.backToStore)
  },
)

describe('the page', () => {
  test('shows the selection and meets WCAG in forced colours', async () => {
    const { page, texts } = await openDeposit({ context: { forcedColors: 'active' } })
    await giveLink(page, texts, await shopper())
    await pickItems(page, 1)
    const outline = await page
      .locator('.card-selected')
      .first()
      .evaluate((card) => getComputedStyle(card).outlineStyle)
    expect(outline).toBe('solid')
    expect(await violations(page)).toEqual([])
    // On a narrower page the sort control shows an icon. Its words stay transparent even in forced colours.
    await page.setViewportSize(SMALL_DESKTOP)
    const sortSelect = page.getByRole('combobox', { name: texts.sort })
    await expect
      .poll(() => sortSelect.evaluate((select) => getComputedStyle(select).color))
      .toBe('rgba(0, 0, 0, 0)')
  })

  test('plays no animation under reduced motion', async () => {
    const { page, texts } = await openDeposit({ context: { reducedMotion: 'reduce' } })
    await giveLink(page, texts, await shopper())
    await page.getByRole('gridcell').first().waitFor()
    const moving = await page.evaluate(
      () => document.getAnimations().filter(({ playState }) => playState === 'running').length,
    )
    expect(moving).toBe(0)
  })

  test('A-072 announces the selection when it stops changing, not item by item', async () => {
    const { page, texts } = await openDeposit()
    await giveLink(page, texts, await shopper())
    await page.getByRole('gridcell').first().waitFor()
    await page.evaluate(() => {
      const announced: string[] = []
      Reflect.set(window, 'announced', announced)
      const announcer = [...document.querySelectorAll('[role=status]')].at(-1)
      new MutationObserver(() => announced.push(announcer?.textContent ?? '')).observe(document.body, {
        subtree: true,
        childList: true,
        characterData: true,
      })
    })
    await page.evaluate(() => {
      for (const cell of [...document.querySelectorAll<HTMLElement>('[role=gridcell]')].slice(0, 3))
        cell.click()
    })
    const spoken = (): Promise<string[]> =>
      page.evaluate(() =>
        [...new Set<string>(Reflect.get(window, 'announced'))].filter((text) => text !== ''),
      )
    await expect.poll(spoken).toHaveLength(1)
    const [announcement = ''] = await spoken()
    expect(announcement).toMatch(/^3 selected, \$/)
  })

  test('announces that the items are loaded, and that a search found nothing', async () => {
    const { page, texts } = await openDeposit()
    await giveLink(page, texts, await shopper())
    const announcer = page.locator('.stand > [role=status]').first()
    await expect.poll(() => announcer.textContent()).toMatch(/^CS2: \d+ items$/)
    await page.getByRole('searchbox', { name: texts.search }).fill('zzzz')
    await expect.poll(() => announcer.textContent()).toBe(texts.nothingFound('zzzz'))
  })

  test('A-092 announces the time left at 30 and 10 seconds, and no other second of the last minute', async () => {
    const { page } = await openBrowser()
    const scene = SCENES.find(({ name }) => name === 'confirmation-last-minute')
    if (scene === undefined) throw new Error('the scene does not exist')
    await playScene(page, { gateway: till.gateway, base: await baseOf(till), scene, language: 'en' })
    await answerNoChange(page)
    const announcer = page.getByRole('dialog').locator('.countdown [role=status]')
    const timerText = () => page.getByRole('timer').textContent()
    const spoken: string[] = []
    for (let shownTime = await timerText(); shownTime !== '00:00'; shownTime = await timerText()) {
      await page.clock.runFor(1000)
      // Waits until the page shows this second. Otherwise two seconds could pass at once, without an announcement.
      await expect.poll(timerText).not.toBe(shownTime)
      const text = (await announcer.textContent()) ?? ''
      if (text !== spoken.at(-1) && text !== '') spoken.push(text)
    }
    expect(spoken).toEqual([TEXTS.en.timeAnnounce(30), TEXTS.en.timeAnnounce(10)])
  })
})

test('the receipt for support and its error pages are accessible in both languages and colour schemes', async () => {
  const { page, deposit, offerId, texts } = await openConfirmation()
  await endDeposit(deposit, offerId)
  const receipt = page.getByRole('link', { name: texts.receipt })
  await receipt.waitFor()
  const path = new URL((await receipt.getAttribute('href')) ?? '', till.gateway).pathname
  const visit = async (address: string, language: 'en' | 'ru', colorScheme: 'dark' | 'light') => {
    await page.emulateMedia({ colorScheme })
    const answer = await page.goto(`${till.gateway}${address}?lang=${language}`)
    await expect.poll(() => page.getAttribute('html', 'lang')).toBe(language)
    // A link to the other language, and one to the store if there is a receipt.
    await expect.poll(() => page.getByRole('link').count()).toBe(answer?.status() === 200 ? 2 : 1)
    expect(await violations(page)).toEqual([])
    return answer?.status()
  }
  expect(await visit(path, 'en', 'dark')).toBe(200)
  // The page's script shows the shopper's own time, followed by UTC.
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Emulation.setTimezoneOverride', { timezoneId: 'Asia/Kolkata' })
  expect(await visit(path, 'ru', 'light')).toBe(200)
  await expect.poll(() => page.locator('time').first().textContent()).toMatch(/\d:\d\d GMT\+5:30$/)
  await expect.poll(() => page.locator('time + .quiet').first().textContent()).toMatch(/^\(.* UTC\)$/)
  // The till answers 503 only without its database, so the test serves that page itself.
  const unavailable = '/receipt/unavailable'
  await page.route(`**${unavailable}?lang=*`, (route) => {
    const language = route.request().url().endsWith('ru') ? 'ru' : 'en'
    const headers = { ...RECEIPT_HEADERS, 'content-type': 'text/html; charset=utf-8' }
    return route.fulfill({ status: 503, headers, body: refusedPage(503, language) })
  })
  expect(await visit(unavailable, 'en', 'light')).toBe(503)
  expect(await visit(unavailable, 'ru', 'dark')).toBe(503)
  // The receipt becomes too old to be shown.
  await query("update deposit set expires_at = expires_at - interval '60 days' where id = $1", [deposit.id])
  expect(await visit(path, 'en', 'dark')).toBe(410)
  expect(await visit(path, 'ru', 'light')).toBe(410)
  const unknown = `${path}0`
  expect(await visit(unknown, 'en', 'light')).toBe(404)
  expect(await visit(unknown, 'ru', 'dark')).toBe(404)
  await page.getByRole('link').click()
  await expect.poll(() => page.getByRole('heading').textContent()).toBe('No receipt')
})
