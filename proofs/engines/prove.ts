/**
 * `npm run prove -- engines`: a shopper pays on the till's page, and in a frame of a store on another site, in every
 * installed browser engine. Firefox and WebKit are Playwright's builds. The proof lists the engines that are missing.
 */
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type Browser, type BrowserType, type Frame, firefox, type Page, webkit } from 'playwright-core'
import { z } from 'zod'
import { DESKTOP, launchBrowser, type Visit, visit } from '../../e2e/support/browser.ts'
import { parseSecrets } from '../../e2e/support/demo-store.ts'
import { answerOffer, inviteGuest } from '../../e2e/support/sandbox.ts'
import { prepare } from '../../e2e/support/setup.ts'
import { TEXTS } from '../../e2e/support/shopper.ts'
import { endTill, query, startTill, type Till } from '../../e2e/support/till.ts'
import { newDeposit } from '../../e2e/support/widget-calls.ts'
import { LOADER_INTEGRITY, LOADER_PATH } from '../../gateway/http/embed-loader.ts'
import { defineProof, keepFlag } from '../proof.ts'

type Engine = { name: string; isHere: boolean; launch(): Promise<Browser> }

const playwrightEngine = (type: BrowserType): Engine => ({
  name: type.name(),
  isHere: existsSync(type.executablePath()),
  launch: () => type.launch(),
})

const ENGINES: readonly Engine[] = [
  { name: 'chromium', isHere: true, launch: launchBrowser },
  playwrightEngine(firefox),
  playwrightEngine(webkit),
]

export const enginesProof = defineProof({
  options: z.object({ keep: keepFlag() }),
  async run() {
    for (const { name, isHere } of ENGINES) {
      if (!isHere) console.log(`not here    ${name} (npx playwright-core install --with-deps ${name})`)
    }
    await prepare()
    const till = await startTill()
    const shop = await openShop(till)
    try {
      const engines = []
      for (const engine of ENGINES.filter(({ isHere }) => isHere)) {
        const browser = await engine.launch()
        const about = { engine: engine.name, version: browser.version() }
        const problem = await payEachWay(browser, { till, shop: shop.origin }).finally(() => browser.close())
        console.log(
          `${problem === undefined ? 'passed      ' : 'FAILED      '}${Object.values(about).join(' ')}`,
        )
        if (problem !== undefined) console.log(problem)
        engines.push({ ...about, passed: problem === undefined })
      }
      const passed = engines.every((engine) => engine.passed)
      return { passed, result: { name: 'engines', content: { passed, engines } } }
    } finally {
      shop.end()
      await endTill(till)
    }
  },
})

type Setup = { till: Till; shop: string }

/** Pays on the till's page and in a frame. Resolves to the first problem; undefined if there is none. */
async function payEachWay(browser: Browser, setup: Setup): Promise<string | undefined> {
  try {
    for (const way of [onTillsPage, inFrame]) {
      const visited = await visit(browser, DESKTOP)
      await way(visited, setup)
      await visited.end()
    }
    return undefined
  } catch (error) {
    return String(error)
  }
}

/** A page of the store on `127.0.0.1`, which is a different site from the till's `localhost`. */
async function openShop({ gateway }: Till) {
  const page = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title>
    <script src="${gateway}${LOADER_PATH}" integrity="${LOADER_INTEGRITY}" crossorigin="anonymous"></script></head>
    <body><main><h1>Shop</h1></main></body></html>`
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(page)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const end = (): void => {
    server.closeAllConnections()
    server.close()
  }
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, end }
}

/** Adds the shop's origin to the demo store, and creates a deposit there. */
async function openDeposit({ till, shop }: Setup) {
  await query(till, 'update store set origins = array_append(origins, $1) where not $1 = any(origins)', [
    shop,
  ])
  const secrets = parseSecrets(readFileSync(join(till.root, 'demo-store.json'), 'utf8'))
  return newDeposit({ place: till, secrets }, { embedOrigin: shop, redirectUrl: `${shop}/paid` })
}

async function onTillsPage({ page }: Visit, setup: Setup): Promise<void> {
  const { id, url } = await openDeposit(setup)
  await page.goto(url)
  await payIn(page, setup.till, id)
  await page.waitForURL(`${setup.shop}/paid`)
}

async function inFrame({ page, context }: Visit, setup: Setup): Promise<void> {
  const { id, url } = await openDeposit(setup)
  await page.goto(`${setup.shop}/`)
  const outcome = await page.evaluate(`tradetill.open(${JSON.stringify(url)}).ready`)
  const [, frame] = page.frames()
  if (outcome !== 'ready' || frame === undefined) throw new Error(`the frame did not load: ${outcome}`)
  await payIn(frame, setup.till, id)
  await page.waitForURL(`${setup.shop}/paid`)
  const cookies = await context.cookies()
  if (cookies.length > 0) throw new Error(`the frame left cookies: ${JSON.stringify(cookies)}`)
}

async function payIn(view: Page | Frame, till: Till, depositId: string): Promise<void> {
  const texts = TEXTS.en
  const { name, tradeUrl } = await inviteGuest(till.sandbox)
  await view.getByRole('textbox', { name: texts.tradeLink }).fill(tradeUrl)
  await view.getByRole('link', { name }).waitFor()
  await view.getByRole('combobox', { name: texts.sort }).selectOption('priceDown')
  await view.getByRole('gridcell').first().click()
  await view.getByRole('button', { name: texts.pay, exact: true }).click()
  await view.getByRole('dialog', { name: texts.confirmTitle }).waitFor()
  const [trade] = await query(till, 'select steam_offer_id as offer from trade where deposit_id = $1', [
    depositId,
  ])
  await answerOffer(till.sandbox, String(trade?.offer), 'accept')
}
