import { expect, test } from 'vitest'
import { enterSandbox } from './support/console.ts'
import { createDeposit, openBrowser, query, shopper, till } from './support/shared-till.ts'
import { callerOf } from './support/widget-calls.ts'

const LAPTOP = { width: 1280, height: 800 }

test('on a laptop, the list of deposits fits beside the menu, and an order id takes at most five lines', async () => {
  const caller = await callerOf(till.gateway, await createDeposit())
  await caller.post('/api/trade-url', { tradeUrl: (await shopper()).tradeUrl })
  const { page } = await openBrowser({ viewport: LAPTOP })
  await enterSandbox(page)
  // Fills every column with wide content.
  await page.addInitScript(() => {
    const realJson = Response.prototype.json
    Response.prototype.json = async function json() {
      const text = JSON.stringify(await realJson.call(this))
        .replaceAll('"status":"created"', '"status":"tradeHasInvalidItems"')
        .replaceAll('"game":null', '"game":"dota"')
        .replaceAll('"amountMinor":null', '"amountMinor":291750')
        .replaceAll('"heldMinor":0', '"heldMinor":191750')
      return JSON.parse(text)
    }
  })
  await page.goto(`${till.console}/deposits`)
  const orderCell = page.getByRole('cell', { name: /^e2e-[0-9a-f-]{36}$/ }).first()
  await orderCell.waitFor()
  const hiddenPx = await page
    .locator('.table-frame')
    .evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
  expect(hiddenPx).toBe(0)
  const lines = await orderCell.locator('div').evaluate((cell) => {
    const { lineHeight } = getComputedStyle(cell)
    return cell.getBoundingClientRect().height / Number.parseFloat(lineHeight)
  })
  expect(lines).toBeLessThanOrEqual(5)
})

test.each([
  ['Pacific/Kiritimati', '2026-01-01T10:00:00.000Z'],
  ['America/New_York', '2026-01-02T05:00:00.000Z'],
])('a day in a filter begins at midnight in the browser’s time zone, here %s', async (timezoneId, from) => {
  const { page } = await openBrowser({ viewport: LAPTOP, context: { timezoneId } })
  await enterSandbox(page)
  const findRequest = page.waitForRequest(`${till.console}/ops/find/deposits`)
  await page.goto(`${till.console}/deposits?from=2026-01-02`)
  expect((await findRequest).postDataJSON()).toMatchObject({ from })
})

test('a list loses no row if it changes while its next page is on the way', async () => {
  const older = [await createDeposit(), await createDeposit()]
  const { page } = await openBrowser({ viewport: LAPTOP })
  await enterSandbox(page)
  const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await page.route('**/ops/find/deposits', async (route) => {
    const input = route.request().postDataJSON() as { before?: string }
    if (input.before !== undefined) {
      asked.resolve()
      await released.promise
    }
    return route.continue({ postData: { ...input, limit: 1 } })
  })
  const shownIds = () => page.getByRole('main').locator('a[href^="/deposits/"]').allTextContents()
  await page.goto(`${till.console}/deposits`)
  await page.getByRole('button', { name: 'Show more' }).click()
  await asked.promise
  const changed = page.waitForResponse('**/ops/find/deposits')
  const newest = await createDeposit()
  await (await changed).finished()
  released.resolve()
  const ids = older.map(({ id }) => id).reverse()
  await expect.poll(async () => (await shownIds()).filter((id) => id !== newest.id)).toEqual(ids)
})

test('the ages on an open page follow the clock of a sandbox that is advanced', async () => {
  const { id } = await createDeposit()
  const { page } = await openBrowser({ viewport: LAPTOP })
  await enterSandbox(page)
  // Advances the clock in the answers alone, because other tests use the same till.
  await page.addInitScript(() => {
    const realJson = Response.prototype.json
    Response.prototype.json = async function json() {
      const answer = await realJson.call(this)
      if (document.body.dataset.isAdvanced === undefined || answer.data?.now === undefined) return answer
      const now = new Date(Date.parse(answer.data.now) + 8 * 86_400_000).toISOString()
      return { ...answer, data: { ...answer.data, now } }
    }
  })
  await page.goto(`${till.console}/deposits/${id}`)
  const opened = page.locator('dd time').first()
  await opened.filter({ hasText: /^(?:now|\d+ (?:sec|min)\. ago)$/ }).waitFor()
  await page.evaluate(() => {
    document.body.dataset.isAdvanced = ''
  })
  await createDeposit()
  await opened.filter({ hasText: '8 days ago' }).waitFor()
})

test('an endpoint that is removed leaves a list of which a further page was loaded', async () => {
  const [{ earlier } = {}] = await query('select count(*)::int as earlier from webhook_endpoint')
  const [endpoint] = await query(`
    insert into webhook_endpoint (store_id, url, secret, event_types)
    select store_id, url || '/twice', secret, '{deposit.reversed}' from webhook_endpoint
    order by id limit 1 returning url`)
  const { page } = await openBrowser({ viewport: LAPTOP })
  await enterSandbox(page)
  await page.route('**/ops/find/endpoints', (route) =>
    route.continue({ postData: { ...route.request().postDataJSON(), limit: earlier } }),
  )
  await page.goto(`${till.console}/webhooks`)
  await page.getByRole('button', { name: 'Show more' }).click()
  const row = page.locator('tr', { hasText: String(endpoint?.url) })
  await row.getByRole('button', { name: 'Remove' }).click()
  const dialog = page.getByRole('dialog', { name: 'Remove' })
  await dialog.getByLabel('Reason, for the record').fill('the store moved')
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await dialog.getByRole('status').waitFor()
  await row.waitFor({ state: 'detached' })
})

test('the console works in a dozen tabs of one browser, which has six connections to a server', async () => {
  const { page, context } = await openBrowser({ viewport: LAPTOP })
  await enterSandbox(page)
  for (let tabs = 1; tabs < 12; tabs += 1) {
    const tab = await context.newPage()
    await tab.goto(`${till.console}/acts`)
    await tab.getByRole('cell', { name: 'store add' }).first().waitFor()
  }
  await page.getByRole('link', { name: 'Bots' }).click()
  await page.getByRole('heading', { name: 'Bots' }).waitFor()
  await page
    .getByRole('cell', { name: /Tradetill Bot/ })
    .first()
    .waitFor()
})
