/** Scenes on a stage: the real page with the answers of a scene, the same in every run. */
import type { Page } from 'playwright-core'
import type { Language } from '../contract/languages.ts'
import type { Bot } from '../contract/widget-api.ts'
import { callerOf, newDeposit, standingOffer } from './calls.ts'
import type { Answers, Base, Scene } from './gallery-scenes.ts'
import { eventually } from './process.ts'
import { player } from './sandbox.ts'
import { TEXTS } from './shopper.ts'
import { storeSecrets } from './store.ts'
import type { Place } from './till.ts'

/** A deposit with its user, the same with a standing offer, and an inventory, all made equal from run to run. */
export async function baseOf(till: Place): Promise<Base> {
  const parts = { place: till, secrets: await storeSecrets(till.root) }
  const caller = await callerOf(till.gateway, await newDeposit(parts))
  await caller.post('/api/trade-url', { tradeUrl: (await player(till.sandbox)).tradeUrl })
  const inventory = await caller.inventory()
  const created = await caller.payment()
  await standingOffer(caller)
  const pending = await caller.payment()
  const fixed = { id: '1042', hash: '0'.repeat(32) }
  // Either bot may have been free.
  const known = (bot: Bot | null) => bot && { ...bot, name: 'Tradetill Bot #2', level: 112 }
  const offer = { steamTradeId: '8123456789', steamTradeMessage: 'K7QX2M', itemCount: 3, amount: 65_502 }
  return {
    inventory: { ...inventory, unavailableItems: 12 },
    payment: { ...created, ...fixed },
    pending: { ...pending, bot: known(pending.bot), ...fixed, ...offer, timeLeft: 234 },
  }
}

async function answer(page: Page, { payment, inventory, link, trade }: Answers): Promise<void> {
  const problem = (status: number, code: string) => ({
    status,
    contentType: 'application/problem+json',
    body: JSON.stringify({ code, detail: TEXTS.en.paymentNotFound }),
  })
  await page.route('**/api/payment?*', async (route) => {
    if (payment === 'never') return
    await route.fulfill(payment === null ? problem(404, 'deposit_not_found') : { json: payment })
  })
  await page.route('**/api/trade-url', async (route) => {
    if (link !== 'never') await route.fulfill(problem(link?.status ?? 422, link?.code ?? 'invalid_trade_url'))
  })
  await page.route('**/api/inventory?*', async (route) => {
    if (inventory !== null) await route.fulfill({ json: inventory })
  })
  await page.route('**/api/trade', (route) =>
    route.fulfill(problem(trade?.status ?? 422, trade?.code ?? 'trade_refused')),
  )
  await page.route('**/api/metrics', (route) => route.fulfill({ status: 204 }))
}

type Set = { gateway: string; base: Base; scene: Scene; language: Language }

/** Opens a scene in a fresh page, with time standing still. */
export async function playScene(page: Page, { gateway, base, scene, language }: Set): Promise<void> {
  await page.addInitScript((value) => localStorage.setItem('language', value), language)
  await answer(page, scene.answers(base))
  await page.clock.install({ time: '2026-03-01T12:00:00Z' })
  // A minute later than it starts: a slow machine needs some of it to get here.
  await page.clock.pauseAt('2026-03-01T12:01:00Z')
  await page.goto(gateway + (scene.path ?? `/deposit/${base.payment.hash}`))
  // Time stands still but for these steps, so that a countdown is the same in every run.
  await eventually('the page stands', async () => {
    await page.clock.runFor(50)
    return (await page.getByRole('banner').isVisible()) || undefined
  })
  await scene.steps?.(page, TEXTS[language])
  await page.clock.runFor(50)
}
