/** After a success the page waits until the store knows, so its text does not stay behind. */
import { expect, it } from 'vitest'
import { answers, json, start } from './test-flow.ts'
import { opening, payment } from './test-states.ts'

/** A page opened on a success, which the store hears of when the test says so. */
async function succeeded(storeTold?: boolean) {
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
    looks: () => page.to('/api/payment').length,
    told: () => page.flow.state().payment?.storeTold,
  }
}

it('looks every 15 s until the store knows, and then no longer', async () => {
  const page = await succeeded(false)
  const before = page.looks()
  await page.pass(30_000)
  expect(page.looks()).toBe(before + 2)
  page.tell()
  await page.pass(15_000)
  expect(page.told()).toBe(true)
  await page.pass(60_000)
  expect(page.looks()).toBe(before + 3)
})

it('gives up after two minutes', async () => {
  const page = await succeeded(false)
  const before = page.looks()
  await page.pass(120_000)
  expect(page.looks()).toBe(before + 8)
  await page.pass(600_000)
  expect(page.looks()).toBe(before + 8)
})

it.each([undefined, true])('does not look if the answer says %j', async (storeTold) => {
  const page = await succeeded(storeTold)
  const before = page.looks()
  await page.pass(60_000)
  expect(page.looks()).toBe(before)
})
