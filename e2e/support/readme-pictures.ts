import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import type { Language } from '../../contract/languages.ts'
import { DESKTOP, MOBILE, visit } from './browser.ts'
import { eventually } from './process.ts'
import { answerOffer, readOffers, readPlayer } from './sandbox.ts'
import { giveLinkAndAwaitItems, openOffer, pickItems, startTopUp } from './shopper.ts'
import type { Till } from './till.ts'

const FOLDER = join(import.meta.dirname, '../../docs/images')

type Series = { language: Language; viewport: typeof DESKTOP; suffix: string }

async function takePayment(
  browser: Browser,
  till: Till,
  { language, viewport, suffix }: Series,
): Promise<void> {
  const { page, end } = await visit(browser, viewport)
  const texts = await startTopUp(page, till, language)
  await giveLinkAndAwaitItems(page, texts, await readPlayer(till.sandbox))
  await pickItems(page, 3)
  await page.waitForLoadState('networkidle')
  await page.screenshot({ path: join(FOLDER, `inventory${suffix}.png`) })
  await openOffer(page, texts)
  await page.waitForLoadState('load')
  await page.screenshot({ path: join(FOLDER, `confirmation${suffix}.png`) })
  await end()
}

/** The console: a paid deposit in dark colours, and a bot and the overview in light colours. */
async function takeConsole(browser: Browser, { console: origin, main, sandbox }: Till): Promise<void> {
  const [offer] = await readOffers(sandbox)
  if (offer === undefined) throw new Error('the sandbox has no offer')
  await answerOffer(sandbox, offer.id, 'accept')
  const { page, end } = await visit(browser, DESKTOP, { colorScheme: 'dark' })
  const link = /http:\S+\/enter#sandbox=\S+/.exec(main.output())?.[0]
  if (link === undefined) throw new Error('npm start printed no link of the console')
  await page.goto(link)
  await page.getByRole('button', { name: 'Enter the sandbox' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.goto(`${origin}/deposits`)
  // The last row is the oldest deposit, the one paid above.
  await page.getByRole('row').last().getByRole('link').first().click()
  await page.getByText('deposit.succeeded').first().waitFor()
  await eventually('each part of the page has loaded', async () =>
    (await page.locator('.skeleton').count()) === 0 ? true : undefined,
  )
  await page.screenshot({ path: join(FOLDER, 'console-deposit.png') })
  await page.emulateMedia({ colorScheme: 'light' })
  await page.goto(`${origin}/bots/1`)
  await page.getByRole('heading', { name: 'Last hour' }).waitFor()
  await page.screenshot({ path: join(FOLDER, 'console-bot.png') })
  await page.goto(origin)
  await page.getByRole('heading', { name: 'Where shoppers leave' }).waitFor()
  await page.screenshot({ path: join(FOLDER, 'console-overview.png') })
  await end()
}

/** The demo store with a cart, and with a deposit inside its page. */
async function takeStore(browser: Browser, { store }: Till): Promise<void> {
  const { page, end } = await visit(browser, DESKTOP)
  await page.goto(store)
  for (const good of ['Season pass', '500 embers']) {
    await page.getByRole('button', { name: `Add to cart: ${good}` }).click()
    await page.getByRole('button', { name: `One more: ${good}` }).waitFor()
  }
  await page.mouse.move(0, 0)
  await page.screenshot({ path: join(FOLDER, 'store.png') })
  await page.getByRole('radio', { name: 'Here, inside the store' }).check()
  await page.getByRole('button', { name: 'nova_hound', exact: true }).click()
  await page.frameLocator('iframe').getByRole('gridcell').first().waitFor()
  await page.waitForLoadState('networkidle')
  await page.screenshot({ path: join(FOLDER, 'store-embedded.png') })
  await end()
}

/** Photographs a payment in English on a desktop and in Russian on a phone, then the demo store and the console. */
export async function takeReadmePictures(browser: Browser, till: Till): Promise<void> {
  mkdirSync(FOLDER, { recursive: true })
  await takePayment(browser, till, { language: 'en', viewport: DESKTOP, suffix: '' })
  await takePayment(browser, till, { language: 'ru', viewport: MOBILE, suffix: '-mobile' })
  await takeStore(browser, till)
  await takeConsole(browser, till)
}
