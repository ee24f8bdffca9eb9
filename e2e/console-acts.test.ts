/** Acts in the console while a second operator acts, and dialogs that are closed at a bad moment. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { enterSandbox, giveAuthenticator, runOperatorCommand } from './support/console.ts'
import { callsTo, createDeposit, openBrowser, query, shopper, till } from './support/shared-till.ts'
import { callerOf } from './support/widget-calls.ts'

const REASON = 'Reason, for the record'

const typeReason = (page: Page, reason: string): Promise<void> =>
  page.getByRole('dialog').getByLabel(REASON).fill(reason)

test('a dialog keeps the act that it named, even if a second operator carries it out first', async () => {
  const { steamId, tradeUrl } = await shopper()
  // The console shows only accounts that a deposit names.
  await (await callerOf(till.gateway, await createDeposit())).post('/api/trade-url', { tradeUrl })
  const visited = await openBrowser()
  const { page } = visited
  await enterSandbox(page)
  await page.goto(`${till.console}/shoppers/${steamId}`)
  await page.getByRole('button', { name: 'Deny', exact: true }).click()
  await typeReason(page, 'stolen items')
  await runOperatorCommand('shopper', 'deny', steamId, '--by', 'ada', '--reason', 'stolen items')
  await page.getByText('May not pay: stolen items').waitFor({ state: 'attached' })
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Deny' }).getByRole('status').waitFor()
  expect(callsTo(visited, '/ops/act/shopper-deny')).toHaveLength(1)
  expect(callsTo(visited, '/ops/act/shopper-allow')).toEqual([])
  await page.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('button', { name: 'Allow', exact: true }).waitFor()
})

test('a changed setting of a store leaves the settings that a second operator changed meanwhile', async () => {
  const { steamId } = await shopper()
  const name = `Store beside ${steamId}`
  await runOperatorCommand('store', 'add', '--name', name, '--origin', 'http://localhost:8124')
  const [store] = await query('select id::text from store where name = $1', [name])
  const storeId = String(store?.id)
  const { page } = await openBrowser()
  await enterSandbox(page)
  await page.goto(`${till.console}/stores/${storeId}`)
  await page.getByRole('button', { name: 'Change settings' }).click()
  const dialog = page.getByRole('dialog', { name: 'Change settings' })
  await dialog.getByLabel('Colour').fill('#3366ff')
  await runOperatorCommand('store', 'update', '--store', storeId, '--credit-mode', 'on_release')
  await page.locator('dd', { hasText: 'on release' }).waitFor({ state: 'attached' })
  await dialog.getByRole('button', { name: 'Change settings' }).click()
  await dialog.getByRole('status').waitFor()
  const settings = await query('select credit_mode, accent from store where id = $1', [storeId])
  expect(settings).toEqual([{ credit_mode: 'on_release', accent: '#3366ff' }])
  await query('update store set disabled_at = now() where id = $1', [storeId])
})

test('a commission that is not a percentage with two decimals is refused, and the store keeps its own', async () => {
  const { steamId } = await shopper()
  const name = `Store with a commission ${steamId}`
  const [store] = await query(
    "insert into store (name, origins, commission_bps) values ($1, '{http://localhost:8125}', 3000) returning id::text",
    [name],
  )
  const { page } = await openBrowser()
  await enterSandbox(page)
  await page.goto(`${till.console}/stores/${store?.id}`)
  await page.getByRole('button', { name: 'Change settings' }).click()
  const dialog = page.getByRole('dialog', { name: 'Change settings' })
  await dialog.getByLabel('Commission').fill('32 %')
  await dialog.getByRole('button', { name: 'Change settings' }).click()
  await dialog.getByRole('alert').or(dialog.getByRole('status')).waitFor()
  expect(await query('select commission_bps from store where id = $1', [store?.id])).toEqual([
    { commission_bps: 3000 },
  ])
  await dialog.getByText('two decimals, such as 24.50').waitFor()
  await dialog.getByLabel('Commission').fill('32.00')
  await dialog.getByRole('button', { name: 'Change settings' }).click()
  await dialog.getByRole('status').waitFor()
  expect(await query('select commission_bps from store where id = $1', [store?.id])).toEqual([
    { commission_bps: 3200 },
  ])
  await query('update store set disabled_at = now() where id = $1', [store?.id])
})

/** Holds back a call. `asked`: resolves once the page has made it. `release`: lets it reach the server. */
async function holdBack(page: Page, path: string) {
  const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await page.route(`**/ops/${path}`, async (route) => {
    asked.resolve()
    await released.promise
    await route.continue()
  })
  return { asked: asked.promise, release: released.resolve }
}

test('a dialog whose act is under way stays until the answer, which may show a secret only once', async () => {
  const { page } = await openBrowser()
  await enterSandbox(page)
  await page.goto(`${till.console}/stores/1`)
  await page.getByRole('button', { name: 'Add a key' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add a key' })
  await dialog.getByLabel('What it is for').fill('a slow answer')
  const { asked, release } = await holdBack(page, 'act/key-add')
  await dialog.getByRole('button', { name: 'Add a key' }).click()
  await asked
  await expect.poll(() => dialog.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true)
  // Chromium closes a dialog at a second Escape, whatever the page does about the first.
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  release()
  await dialog.getByText(/^tt_test_/).waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await query("update api_key set revoked_at = now() where name = 'a slow answer'")
})

test('a login whose dialog was closed before its QR code came is ended', async () => {
  const { page } = await openBrowser()
  await enterSandbox(page)
  await page.goto(`${till.console}/bots/1`)
  await page.getByRole('button', { name: 'Renew the token' }).click()
  const dialog = page.getByRole('dialog', { name: 'Renew the token' })
  const { asked, release } = await holdBack(page, 'login/begin')
  await dialog.getByRole('button', { name: 'Renew the token' }).click()
  await asked
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })
  const ended = page.waitForResponse('**/ops/login/end')
  release()
  expect((await ended).status()).toBe(200)
})

test('after a second operator signs in in another tab, a page shows that operator and closes the dialog of the first', async () => {
  const name = `mia ${(await shopper()).steamId}`
  const { page, context } = await openBrowser()
  await enterSandbox(page)
  await page.goto(`${till.console}/bots`)
  await page.getByRole('button', { name: 'Disarm the bots' }).click()
  const otherPage = await context.newPage()
  await giveAuthenticator(otherPage)
  const link = /http:\S+\/enter#\S+/.exec(
    await runOperatorCommand('operator', 'add', name, '--role', 'viewer'),
  )?.[0]
  await otherPage.goto(link ?? '')
  await otherPage.getByRole('button', { name: 'Register a passkey' }).click()
  await otherPage.getByText(`${name} (viewer)`).waitFor()
  await page.getByText(`${name} (viewer)`).waitFor()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await page.getByRole('button', { name: 'Disarm the bots' }).count()).toBe(0)
})

/** Adds a key to the first store and opens the store's page. Resolves to the key's id and its row there. */
async function addKey(page: Page, name: string) {
  await runOperatorCommand('key', 'add', '--store', '1', '--name', name, '--scope', 'deposits:read')
  const [key] = await query('select id from api_key where name = $1 and revoked_at is null', [name])
  await page.goto(`${till.console}/stores/1`)
  return { keyId: String(key?.id), row: page.getByRole('row', { name }) }
}

test('a dialog with a new key stays when its button leaves the page', async () => {
  const name = `rotated ${(await shopper()).steamId}`
  const { page } = await openBrowser()
  await enterSandbox(page)
  const { keyId, row } = await addKey(page, name)
  await row.getByRole('button', { name: 'Rotate' }).click()
  const dialog = page.getByRole('dialog', { name: 'Rotate' })
  await dialog.getByRole('button', { name: 'Rotate' }).click()
  const newKey = dialog.getByText(/^tt_test_/)
  await newKey.waitFor()
  await runOperatorCommand('key', 'revoke', keyId, '--by', 'ada', '--reason', 'it is public')
  await page.locator('tr', { hasText: keyId }).filter({ hasText: 'revoked' }).waitFor({ state: 'attached' })
  await newKey.waitFor()
  await dialog.getByRole('button', { name: 'Close' }).click()
  await dialog.waitFor({ state: 'detached' })
  await query('update api_key set revoked_at = now() where name = $1', [name])
})

test('an act whose answer was lost is not reported as if nothing had happened, and the page shows its effect', async () => {
  const name = `lost ${(await shopper()).steamId}`
  const { page } = await openBrowser()
  await enterSandbox(page)
  await page.goto(`${till.console}/stores/1`)
  // Without notices of changes and the refresh of each minute, only the dialog can tell the page to read its data again.
  await page.route('**/ops/live', () => {})
  await page.addInitScript(() => {
    Object.assign(window, { setInterval: () => 0 })
    const realFetch = window.fetch
    window.fetch = async (...call) => {
      const answer = await realFetch(...call)
      if (call[0] === '/ops/act/key-add') throw new TypeError('the connection broke')
      return answer
    }
  })
  await page.reload()
  await page.getByRole('button', { name: 'Add a key' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add a key' })
  await dialog.getByLabel('What it is for').fill(name)
  await dialog.getByRole('button', { name: 'Add a key' }).click()
  await dialog.getByRole('alert').filter({ hasText: 'may have been carried out' }).waitFor()
  await page.locator('td', { hasText: name }).waitFor({ state: 'attached' })
  await query('update api_key set revoked_at = now() where name = $1', [name])
})

test('a page does not pretend to have signed out everywhere if the call failed', async () => {
  const { page } = await openBrowser()
  await enterSandbox(page)
  await page.goto(`${till.console}/settings`)
  let isBroken = true
  await page.route('**/ops/sign-out-everywhere', (route) => (isBroken ? route.abort() : route.continue()))
  const button = page.getByRole('button', { name: 'Sign out everywhere' })
  await button.click()
  await page.getByRole('alert').filter({ hasText: 'may still be signed in' }).waitFor()
  isBroken = false
  await button.click()
  await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor()
})
