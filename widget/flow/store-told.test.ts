import { expect, it } from 'vitest'
import { answers, json, start } from './test-flow.ts'
import { opening, payment } from './test-states.ts'

/** A page opened on a success. The store accepts its webhook when the test calls `acceptWebhook`. */
async function openOnSuccess(storeTold?: boolean) {
  let told = storeTold
  const view = () =>
    payment({ status: 'succeeded', amount: 400, ...(told !== undefined && { storeTold: told }) })
  const page = start({ ...answers, '/api/payment': () => json(view()) }, opening())
  await page.pass(0)
  const acceptWebhook = () => {
    told = true
  }
  return {
    ...page,
    acceptWebhook,
    countChecks: () => page.callsTo('/api/payment').length,
    isShownAsTold: () => page.flow.state().payment?.storeTold,
  }
}

it('after a success, the page checks every 15 s until the store has accepted the webhook', async () => {
  const page = await openOnSuccess(false)
  const checksBefore = page.countChecks()
  await page.pass(30_000)
  expect(page.countChecks()).toBe(checksBefore + 2)
  page.acceptWebhook()
  await page.pass(15_000)
  expect(page.isShownAsTold()).toBe(true)
  await page.pass(60_000)
  expect(page.countChecks()).toBe(checksBefore + 3)
})

it('after a success, the page stops after eight checks in two minutes if the webhook is not accepted', async () => {
  const page = await openOnSuccess(false)
  const checksBefore = page.countChecks()
  await page.pass(120_000)
  expect(page.countChecks()).toBe(checksBefore + 8)
  await page.pass(600_000)
  expect(page.countChecks()).toBe(checksBefore + 8)
})

it.each([undefined, true])(
  'after a success, the page does not check if `storeTold` is %j',
  async (storeTold) => {
    const page = await openOnSuccess(storeTold)
    const checksBefore = page.countChecks()
    await page.pass(60_000)
    expect(page.countChecks()).toBe(checksBefore)
  },
)
