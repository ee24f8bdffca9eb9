/** Acts in the console while a second operator acts. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { enterSandbox, runOperatorCommand } from './support/console.ts'
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
