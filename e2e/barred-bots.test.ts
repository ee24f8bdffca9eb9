/** D-30: what a shopper sees after Steam has refused a bot's offer and the till has barred the bot. */
import type { Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Messages } from '../widget/i18n/en.ts'
import { eventually } from './support/process.ts'
import { beginBehaviour, readOffersTo } from './support/sandbox.ts'
import { callsTo, endDeposit, openStand, query, shopper, till } from './support/shared-till.ts'
import { switchLanguage, TEXTS } from './support/shopper.ts'

const NEW_DEVICE = 'send-new-device'

beforeEach(async () => {
  // The till is ready once its first bot has logged in, but these tests need all of them.
  await eventually('both bots are online', async () => {
    const onlineBots = await query('select 1 from bot where online')
    return onlineBots.length === 2 || undefined
  })
})
afterEach(async () => {
  await fetch(`${till.sandbox}/control/behaviours/${NEW_DEVICE}`, { method: 'DELETE' })
  await endBars()
})

/** Ends the bars by deleting them. Advancing the clock would affect other tests of this worker. */
const endBars = () => query('delete from bot_bar')

const readBars = () => query('select bot_id, reason from bot_bar order by bot_id')

const pressPay = (page: Page, texts: Messages) =>
  page.getByRole('button', { name: texts.pay, exact: true }).click()

const confirmation = (page: Page, texts: Messages) => page.getByRole('dialog', { name: texts.confirmTitle })

const refusal = (page: Page, texts: Messages) => page.getByRole('dialog', { name: texts.creationErrorTitle })

/**
 * Notes each toast, alert and refusal that the page shows from now on. Resolves to a function that returns the texts
 * noted so far.
 */
async function noteMessages(page: Page): Promise<() => Promise<unknown>> {
  const noted = await page.evaluateHandle(() => {
    const texts = new Set<string>()
    const note = () => {
      for (const shown of document.querySelectorAll('.toast, .dialog-refused, [role="alert"]'))
        texts.add(shown.textContent ?? '')
    }
    note()
    new MutationObserver(note).observe(document.body, { childList: true, subtree: true, attributes: true })
    return texts
  })
  return () => noted.evaluate((texts) => [...texts])
}

describe('D-30 a barred bot', () => {
  test('is replaced by another one, and the shopper notices nothing', async () => {
    const visited = await openStand()
    const { page, texts, deposit } = visited
    const guest = await shopper()
    await page.getByRole('gridcell').first().click()
    const messages = await noteMessages(page)
    // Either bot may be chosen first.
    await beginBehaviour(till.sandbox, NEW_DEVICE, { times: 1 })
    await pressPay(page, texts)
    await confirmation(page, texts).waitFor()
    expect(await messages()).toEqual([])
    // All calls ask for the same trade: the page repeats the call while its outcome is unknown.
    const calls = callsTo(visited, '/api/trade')
    expect(new Set(calls.map(({ method }) => method))).toEqual(new Set(['POST']))
    const [barred, ...others] = await readBars()
    expect(others).toEqual([])
    expect(barred?.reason).toBe('bot_cannot_trade')
    const trades = await query('select bot_id, state from trade where deposit_id = $1 order by id', [
      deposit.id,
    ])
    expect(trades.map(({ state }) => state)).toEqual(['refused', 'active'])
    expect(trades[0]?.bot_id).toBe(barred?.bot_id)
    expect(trades[1]?.bot_id).not.toBe(barred?.bot_id)
    const [offer, ...more] = await readOffersTo(till.sandbox, guest)
    expect(more).toEqual([])
    await endDeposit(deposit, offer?.id ?? '')
    await page.getByRole('dialog', { name: texts.outcomes.succeeded.title }).waitFor()
  })

  test('causes a refusal, shown in both languages, while all other bots are barred too', async () => {
    const { page, texts } = await openStand()
    const guest = await shopper()
    await page.getByRole('gridcell').first().click()
    const { off } = await beginBehaviour(till.sandbox, NEW_DEVICE)
    await pressPay(page, texts)
    await refusal(page, texts)
      .getByText(texts.creationErrors.no_bot_available ?? '')
      .waitFor()
    await refusal(page, texts).getByRole('button', { name: texts.close }).click()
    await switchLanguage(page, 'ru')
    await pressPay(page, TEXTS.ru)
    await refusal(page, TEXTS.ru)
      .getByText(TEXTS.ru.creationErrors.no_bot_available ?? '')
      .waitFor()
    await refusal(page, TEXTS.ru).getByRole('button', { name: TEXTS.ru.close }).click()
    expect(await readBars()).toHaveLength(2)
    expect(await readOffersTo(till.sandbox, guest)).toEqual([])
    await expect.poll(() => page.getByRole('gridcell', { selected: true }).count()).toBe(1)
    await off()
    await endBars()
    await pressPay(page, TEXTS.ru)
    await confirmation(page, TEXTS.ru).waitFor()
    expect(await readOffersTo(till.sandbox, guest)).toHaveLength(1)
  })
})
