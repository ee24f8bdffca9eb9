/** Eight days in a minute: the till's clock and its Steam's are advanced together, on a till of its own. */
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { spawnCommand } from '../gateway/testing/command.ts'
import { offerEvidence } from '../gateway/testing/evidence.ts'
import { storeSecrets } from './support/demo-store.ts'
import { answerOffer, player } from './support/sandbox.ts'
import { openBrowser } from './support/shared-till.ts'
import { answerInBrowser, dearestFirst, enterLink, pay, pickItems, speak, TEXTS } from './support/shopper.ts'
import { endTill, query, startTill, type Till } from './support/till.ts'
import { callerOf, newDeposit, standingOffer } from './support/widget-calls.ts'

const DAY_S = 86_400

let till: Till

beforeAll(async () => {
  till = await startTill()
})
beforeEach(() => offerEvidence('own-till.log', () => till.main.output()))
afterAll(() => endTill(till))

const advance = (duration: string) => {
  const env = { TRADETILL_DATA: join(till.root, 'gateway'), TRADETILL_STEAM_SANDBOX_URL: till.sandbox }
  return spawnCommand(['clock', 'advance', duration], { env })
}

/** How far the till, the sandbox and the database's function are ahead, in whole days. */
async function daysAhead() {
  const [row] = await query(till, 'select ahead_s from till_clock')
  const { aheadS } = await (await fetch(`${till.sandbox}/control/clock`)).json()
  return { till: Number(row?.ahead_s) / DAY_S, sandbox: aheadS / DAY_S }
}

/** A deposit of the store that is paid with a protected item and held whole. */
async function heldDeposit(name?: string) {
  const secrets = await storeSecrets(till.root)
  const deposit = await newDeposit({ place: till, secrets }, { creditMode: 'on_release' })
  const shopper = await callerOf(till.gateway, deposit)
  const { tradeUrl } = await player(till.sandbox, name)
  await shopper.post('/api/trade-url', { tradeUrl })
  const { offerId, amount } = await standingOffer(shopper)
  // A magic player does it unasked.
  if (name === undefined) await answerOffer(till.sandbox, offerId, 'accept')
  await expect.poll(shopper.payment).toMatchObject({ status: 'succeeded', amount, heldAmount: amount })
  const told = async () => {
    const headers = { authorization: `Bearer ${secrets.apiKey}` }
    const answer = await fetch(`${till.gateway}/v1/deposits/${deposit.id}/events`, { headers })
    const { events } = (await answer.json()) as { events: { type: string }[] }
    return events.map(({ type }) => type)
  }
  return { payment: shopper.payment, amount, told }
}

test('D-40 `clock advance 8d` moves the till and its Steam on, and what was held is released', async () => {
  const { payment, amount, told } = await heldDeposit()
  expect(await told()).not.toContain('deposit.funds_available')

  const { code, out, errors } = await advance('8d')
  expect({ code, errors }).toEqual({ code: 0, errors: '' })
  expect(out).toContain('8 days ahead')
  expect(await daysAhead()).toEqual({ till: 8, sandbox: 8 })

  await expect.poll(told).toContain('deposit.funds_available')
  expect(await payment()).toMatchObject({ status: 'succeeded', amount, heldAmount: 0, heldUntil: null })
  const [{ available } = {}] = await query(
    till,
    `select sum(balance) as available from account where kind = 'available'`,
  )
  expect(Number(available)).toBe(amount)
})

test('D-40 what Steam does in days is seen at once: a trade is taken back three days later', async () => {
  const { told } = await heldDeposit('magic_reverser')
  expect(await told()).not.toContain('deposit.reversed')
  expect((await advance('3d')).code).toBe(0)
  await expect.poll(told).toContain('deposit.reversed')
  expect(await told()).not.toContain('deposit.funds_available')
})

/** As a shopper in the demo store: a top-up that is held, paid with the dearest items. */
async function topUpOnHold(page: Page): Promise<void> {
  const texts = TEXTS.en
  await page.goto(till.store)
  await page.getByRole('checkbox', { name: 'Hold it' }).check()
  await page.getByRole('button', { name: 'Top up with game items' }).click()
  await page.waitForURL(/\/deposit\/[0-9a-f]{32}$/)
  await speak(page, 'en')
  await enterLink(page, await player(till.sandbox, 'quiet_lynx'), texts)
  await dearestFirst(page, texts)
  await pickItems(page, 2)
  await pay(page, texts)
  await answerInBrowser(page, texts, 'Accept')
  await page.getByRole('dialog', { name: texts.outcomes.succeeded.title }).waitFor()
}

test("D-40 a button of the sandbox's page does the same, and the demo store shows the release", async () => {
  const { page, context } = await openBrowser()
  await topUpOnHold(page)
  await page.goto(till.store)
  await page.getByText(/held until/).waitFor()
  const before = await daysAhead()

  const sandbox = await context.newPage()
  await sandbox.goto(`${till.sandbox}/behaviours/`)
  await sandbox.getByRole('button', { name: '8 days later' }).click()
  await sandbox.getByText(/hours ahead/).waitFor()

  const after = { till: before.till + 8, sandbox: before.sandbox + 8 }
  await expect.poll(daysAhead).toEqual(after)
  await page.getByText(/held until/).waitFor({ state: 'detached' })
})
