import { expect, it } from 'vitest'
import { answers, json, start } from './test-flow.ts'
import { opening, payment } from './test-states.ts'

/** A page opened on a success. The store accepts its webhook when the test calls `tell`. */
async function openOnSuccess(storeTold?: boolean) {
  let told = storeTold
  const view = () =>
    payment({ status: 'succeeded', amount: 400, ...(told !== undefined && { storeTold: told }) })
  const page = start({ ...answers, '/api/payment': () => json(view()) }, opening())
  await page.pass(0)
  const tell = () => {
    told = true
  }
  return {
    ...page,
    tell,
    checks: () => page.callsTo('/api/payment').length,
    shownAsTold: () => page.flow.state().payment?.storeTold,
  }
}

it('after a success, the page checks every 15 s until the store has accepted the webhook', async () => {
  const page = await openOnSuccess(false)
  const before = page.checks()
  await page.pass(30_000)
  expect(page.checks()).toBe(before + 2)
  page.tell()
  await page.pass(15_000)
  expect(page.shownAsTold()).toBe(true)
  await page.pass(60_000)
  expect(page.checks()).toBe(before + 3)
})

it('after a success, the page stops after eight checks in two minutes if the webhook is not accepted', async () => {
  const page = await openOnSuccess(false)
  const before = page.checks()
  await page.pass(120_000)
  expect(page.checks()).toBe(before + 8)
  await page.pass(600_000)
  expect(page.checks()).toBe(before + 8)
})

it.each([undefined, true])(
  'after a success, the page does not check if `storeTold` is %j',
  async (storeTold) => {
    const page = await openOnSuccess(storeTold)
    const before = page.checks()
    await page.pass(60_000)
    expect(page.checks()).toBe(before)
  },
)
