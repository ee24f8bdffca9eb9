import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { DESKTOP, MOBILE, SMALL_DESKTOP } from './support/browser.ts'
import { callsTo, createDeposit, openBrowser, shopper, till } from './support/shared-till.ts'
import { giveLink, TEXTS } from './support/shopper.ts'
import { callerOf } from './support/widget-calls.ts'

/** Holds back the code of the page until `release` is called. */
async function holdCode(page: Page): Promise<{ release(): void }> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route('**/assets/*.js', async (route) => {
    await promise
    await route.continue()
  })
  return { release: () => resolve() }
}

/** Runs in the page: records every layout shift from the start. */
function watchShifts(): void {
  const shifts: string[] = []
  Reflect.set(window, 'shifts', shifts)
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const sources: { node: Element | null }[] = Reflect.get(entry, 'sources')
      const names = sources.map(({ node }) => `${node?.nodeName} ${node?.className}`)
      shifts.push(`${Reflect.get(entry, 'value')}: ${names.join(', ')}`)
    }
  }).observe({ type: 'layout-shift', buffered: true })
}

const shiftsOf = (page: Page): Promise<string[]> => page.evaluate(() => Reflect.get(window, 'shifts'))

/** Runs in the page: records the size of each paint that was the largest so far. */
function watchLargest(): void {
  const largest: number[] = []
  Reflect.set(window, 'largest', largest)
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) largest.push(Number(Reflect.get(entry, 'size')))
  }).observe({ type: 'largest-contentful-paint', buffered: true })
}

const largestOf = (page: Page): Promise<number[]> => page.evaluate(() => Reflect.get(window, 'largest'))

const PARTS = ['.header', '.header h1', '.deposit-id', '.language', '.link-panel', '.link-input']

/** Returns positions and sizes of the parts, in whole pixels. */
const boxesOf = (page: Page, parts: readonly string[]) =>
  page.evaluate(
    (selectors) =>
      selectors.map((selector) => {
        const box = document.querySelector(selector)?.getBoundingClientRect()
        return box && [selector, ...[box.x, box.y, box.width, box.height].map(Math.round)]
      }),
    parts,
  )

test.each([
  { language: 'en', viewport: DESKTOP },
  { language: 'ru', viewport: MOBILE },
  { language: 'ru', viewport: { width: 320, height: 640 } },
] as const)(
  'store, deposit and shopper are shown before the code arrives, and stay in place: $language at $viewport.width px',
  async ({ language, viewport }) => {
    const opened = await openBrowser({ viewport })
    const { page } = opened
    const texts = TEXTS[language]
    const deposit = await createDeposit({ language, customerLabel: 'Ada </script> & Co.' })
    await page.addInitScript(watchShifts)
    const { release } = await holdCode(page)
    await page.goto(deposit.url, { waitUntil: 'commit' })
    const title = page.getByRole('heading', { name: texts.depositTo('Ember Forge') })
    await title.waitFor()
    const subtitle = `${texts.addFunds} ${texts.depositFor} Ada </script> & Co.`
    await page.getByText(subtitle, { exact: true }).waitFor()
    await page.getByText(`#${deposit.id}`).waitFor()
    expect(await page.title()).toBe(`Ember Forge #${deposit.id}`)
    expect(callsTo(opened, '/api/payment')).toEqual([])
    // With the usual priority, a browser may wait for the code before it draws.
    const scripts = page.locator('script[src], link[rel=modulepreload]')
    await expect
      .poll(() =>
        scripts.evaluateAll((elements) => elements.map((each) => each.getAttribute('fetchpriority'))),
      )
      .toEqual(['low', 'low'])
    const boxesBefore = await boxesOf(page, PARTS)
    release()
    await page.getByRole('textbox', { name: texts.tradeLink }).waitFor()
    expect(await page.locator('#shell').count()).toBe(0)
    expect(await boxesOf(page, PARTS)).toEqual(boxesBefore)
    await page.getByText(subtitle, { exact: true }).waitFor()
    await expect.poll(() => callsTo(opened, '/api/payment').length).toBe(1)
    expect(await shiftsOf(page)).toEqual([])
  },
)

test.each([SMALL_DESKTOP, MOBILE])(
  'the payment in the page’s HTML is enough to request the items, and nothing shifts until they are shown, at $width px',
  async (viewport) => {
    const deposit = await createDeposit({ language: 'en' })
    const caller = await callerOf(till.gateway, deposit)
    await caller.post('/api/trade-url', { tradeUrl: (await shopper()).tradeUrl })
    const opened = await openBrowser({ viewport })
    const { page } = opened
    // On a busy machine the page gives up a call that gets no answer, and makes it again.
    let failedCalls = 0
    page.on('requestfailed', (call) => {
      if (new URL(call.url()).pathname === '/api/payment') failedCalls += 1
    })
    await page.addInitScript(watchShifts)
    // The call for the payment gets no answer before the items are shown.
    const { promise, resolve } = Promise.withResolvers<void>()
    await page.route('**/api/payment?*', async (route) => {
      await promise
      await route.continue()
    })
    await page.goto(deposit.url)
    await page.getByRole('gridcell').first().waitFor()
    await expect.poll(() => callsTo(opened, '/api/payment').length - failedCalls).toBe(1)
    resolve()
    expect(await shiftsOf(page)).toEqual([])
    // A browser requests a file again if its preload link does not match the later request.
    const files = opened.seen.requests.map(({ url }) => url).filter((url) => url.includes('/assets/'))
    expect(files.filter((url, index) => files.indexOf(url) !== index)).toEqual([])
  },
)

test.each([
  { language: 'en', viewport: MOBILE },
  { language: 'ru', viewport: DESKTOP },
] as const)(
  'no later paint is larger than the first ones, for which the page’s HTML is enough, in $language at $viewport.width px',
  async ({ language, viewport }) => {
    const deposit = await createDeposit({ language })
    const caller = await callerOf(till.gateway, deposit)
    await caller.post('/api/trade-url', { tradeUrl: (await shopper()).tradeUrl })
    const { page } = await openBrowser({ viewport })
    await page.addInitScript(watchLargest)
    const { release } = await holdCode(page)
    await page.goto(deposit.url, { waitUntil: 'commit' })
    await page.getByText(TEXTS[language].inventoryLoading).waitFor()
    await expect.poll(() => largestOf(page)).not.toEqual([])
    const firstSizes = await largestOf(page)
    release()
    const picture = page.getByRole('gridcell').first().locator('img')
    await expect
      .poll(() => picture.evaluate((image: HTMLImageElement) => image.complete && image.naturalWidth > 0))
      .toBe(true)
    // After one more frame, the picture has been painted.
    await page.evaluate(
      () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))),
    )
    expect(await largestOf(page)).toEqual(firstSizes)
  },
)

test('before the code of the items arrives, the space for them lies below the link panel and is as wide', async () => {
  const deposit = await createDeposit({ language: 'en' })
  const caller = await callerOf(till.gateway, deposit)
  await caller.post('/api/trade-url', { tradeUrl: (await shopper()).tradeUrl })
  const { page } = await openBrowser({ viewport: DESKTOP })
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route('**/assets/stand-*', async (route) => {
    await promise
    await route.continue()
  })
  await page.goto(deposit.url)
  const [link, shelf] = [
    page.locator('.deposit-stand > .link-panel'),
    page.locator('.deposit-stand > .shelf'),
  ]
  await shelf.waitFor()
  const [above, below] = [await link.boundingBox(), await shelf.boundingBox()]
  expect([below?.x, below?.width]).toEqual([above?.x, above?.width])
  expect(below?.y).toBeGreaterThan((above?.y ?? 0) + (above?.height ?? 0))
  resolve()
  await page.getByRole('gridcell').first().waitFor()
})

test('a part of the page that cannot be loaded shows a message and a button until it can be loaded', async () => {
  const partFiles = /\/assets\/(?:guide|stand)-[\w-]+\.js/
  const { page } = await openBrowser()
  const texts = TEXTS.en
  const deposit = await createDeposit({ language: 'en' })
  await page.clock.install()
  await page.route(partFiles, (route) => route.abort())
  await page.goto(deposit.url)
  const missing = page.getByRole('main').getByRole('alert').filter({ hasText: texts.partFailed })
  await missing.getByRole('button', { name: texts.reloadPage }).waitFor()
  await giveLink(page, texts, await shopper())
  await page.locator('.deposit-stand').getByText(texts.partFailed).waitFor()
  await page.unroute(partFiles)
  await page.clock.runFor(2000)
  await page.getByRole('gridcell').first().waitFor()
  await missing.waitFor({ state: 'detached' })
})

test('a link that is pasted before the rest of the page has loaded is kept, and checked afterwards', async () => {
  const { page } = await openBrowser()
  const texts = TEXTS.en
  const deposit = await createDeposit({ language: 'en' })
  await page.clock.install()
  await page.route(/\/assets\/rest-[\w-]+\.js/, (route) => route.abort())
  await page.goto(deposit.url)
  const field = page.getByRole('textbox', { name: texts.tradeLink })
  const { tradeUrl, name } = await shopper()
  await field.fill(tradeUrl)
  await page.getByText(texts.tradeLinkChecking).waitFor()
  await page.getByRole('alert').filter({ hasText: texts.partFailed }).waitFor()
  await page.unrouteAll()
  await page.clock.runFor(2000)
  await page.getByRole('alert').waitFor({ state: 'detached' })
  await expect.poll(() => field.inputValue()).toBe(tradeUrl)
  await page.clock.runFor(1000)
  await page.getByRole('link', { name }).waitFor()
})

test('the page shows its shell until the rest of its code has loaded, and then the items', async () => {
  const deposit = await createDeposit({ language: 'en' })
  const caller = await callerOf(till.gateway, deposit)
  await caller.post('/api/trade-url', { tradeUrl: (await shopper()).tradeUrl })
  const { page } = await openBrowser()
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route('**/assets/rest-*.js', async (route) => {
    await promise
    await route.continue()
  })
  const code = page.waitForResponse('**/assets/stand-*.js')
  await page.goto(deposit.url)
  await (await code).finished()
  await page.locator('#shell .skeleton-card').first().waitFor()
  expect(await page.getByRole('textbox').count()).toBe(0)
  resolve()
  await page.getByRole('gridcell').first().waitFor()
  expect(await page.locator('#shell').count()).toBe(0)
})

test('the scripts of the first view begin with the comment that makes Chromium compile them while they arrive', async () => {
  const deposit = await createDeposit({ language: 'en' })
  const caller = await callerOf(till.gateway, deposit)
  await caller.post('/api/trade-url', { tradeUrl: (await shopper()).tradeUrl })
  const html = await (await fetch(deposit.url)).text()
  const scripts = [...html.matchAll(/(?:src|href)="(\/assets\/[\w.-]+\.js)"/g)].map(([, path = '']) => path)
  expect(scripts.map((path) => /\/assets\/([a-z]+)/.exec(path)?.[1]).sort()).toEqual([
    'index',
    'react',
    'rest',
    'stand',
  ])
  for (const path of scripts) {
    const code = await (await fetch(new URL(path, deposit.url))).text()
    expect(code.split('\n', 1), path).toEqual(['//# allFunctionsCalledOnLoad'])
  }
})
