/** After a success, the page asks for up to two minutes whether the store has accepted the webhook. */
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
    looks: () => page.callsTo('/api/payment').length,
    shownAsTold: () => page.flow.state().payment?.storeTold,
  }
}

it('the page looks every 15 s until the store has accepted the webhook, and then no longer', async () => {
  const page = await openOnSuccess(false)
  const before = page.looks()
  await page.pass(30_000)
  expect(page.looks()).toBe(before + 2)
  page.tell()
  await page.pass(15_000)
  expect(page.shownAsTold()).toBe(true)
  await page.pass(60_000)
  expect(page.looks()).toBe(before + 3)
})

it('the page stops after eight looks, which take two minutes', async () => {
  const page = await openOnSuccess(false)
  const before = page.looks()
  await page.pass(120_000)
  expect(page.looks()).toBe(before + 8)
  await page.pass(600_000)
  expect(page.looks()).toBe(before + 8)
})

it.each([undefined, true])('the page does not look again if `storeTold` is %j', async (storeTold) => {
  const page = await openOnSuccess(storeTold)
  const before = page.looks()
  await page.pass(60_000)
  expect(page.looks()).toBe(before)
})
