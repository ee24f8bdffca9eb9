import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core'

/**
 * Every window would load pages of the browser's own for the address bar, which costs more than ours. The list replaces
 * the one of playwright-core, so what tests need of that is named here too.
 */
const UNWANTED_FEATURES = [
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup', 'AimEnabled'],
  ...['DestroyProfileOnBrowserClose', 'HttpsUpgrades', 'HttpsFirstBalancedModeAutoEnable', 'LensOverlay'],
  ...['MediaRouter', 'PaintHolding', 'OptimizationHints', 'PreconnectToSearch'],
]

export const BROWSER_ARGS = [
  `--disable-features=${UNWANTED_FEATURES}`,
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Keeps whole pages for the way back, as every shopper's browser does. Playwright turns it off. */
const BACK_FORWARD_CACHE = '--disable-back-forward-cache'

export function launchBrowser({ keepsPages = false } = {}): Promise<Browser> {
  const executablePath = process.env.CHROMIUM_PATH
  if (executablePath === undefined) throw new Error('CHROMIUM_PATH is not set: run the tests with npm test')
  const ignoreDefaultArgs = keepsPages ? [BACK_FORWARD_CACHE] : false
  return chromium.launch({ executablePath, args: BROWSER_ARGS, ignoreDefaultArgs })
}

/** The headless shell, which ends with this process however that ends. */
export function launchShell(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM_SHELL_PATH
  if (executablePath === undefined)
    throw new Error('CHROMIUM_SHELL_PATH is not set: run the tests with npm test')
  // Its pipe tells it of the end. With listeners of its own, a signal would no longer end this process.
  const signals = { handleSIGHUP: false, handleSIGINT: false, handleSIGTERM: false }
  return chromium.launch({ executablePath, args: BROWSER_ARGS, ...signals })
}

/** A slow machine has time for all that is certain to come. */
export const WAIT_MS = 60_000
const EVIDENCE_MS = 10_000

export const DESKTOP = { width: 1440, height: 900 }
/** The layout of a desktop with less to draw: for tests that are not about the size of the page. */
export const SMALL_DESKTOP = { width: 1024, height: 600 }
export const MOBILE = { width: 390, height: 844 }

export type Seen = {
  /** Every request, of every page of the visit. */
  requests: { url: string; method: string; type: string; headers: Record<string, string> }[]
  /** Violations of a content security policy, and errors that nobody caught. */
  complaints: string[]
}

export type Visit = {
  context: BrowserContext
  page: Page
  seen: Seen
  /** Closes it; throws if a policy was violated in it or an error left uncaught. */
  end(): Promise<void>
}

/** Pictures and texts by file name, which a failed test leaves of its browser. */
export function evidenceOf({ context, seen }: Visit): [string, () => Promise<string | Buffer>][] {
  const last = () => context.pages().at(-1)
  const nothing = 'no page was open'
  return [
    ['page.png', async () => (await last()?.screenshot({ timeout: EVIDENCE_MS })) ?? nothing],
    ['page.html', async () => (await last()?.content()) ?? nothing],
    ['requests.txt', async () => seen.requests.map(({ method, url }) => `${method} ${url}`).join('\n')],
  ]
}

/** For pages whose payment only the call may tell: their documents come as for a deposit that nobody knows. */
export async function withoutShownPayment(page: Page): Promise<void> {
  await page.route(/\/(?:deposit\/)?[0-9a-f]{32}$/, async (route) => {
    const response = await route.fetch()
    const html = (await response.text()).replace(/<div id="shell">.*?<\/script>/s, '')
    await route.fulfill({ response, body: html })
  })
}

/** A shopper's browser of its own, with a record of what it did. */
export async function visit(
  browser: Browser,
  viewport = DESKTOP,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({
    viewport,
    locale: 'en-US',
    reducedMotion: 'reduce',
    ...options,
  })
  context.setDefaultTimeout(WAIT_MS)
  const seen: Seen = { requests: [], complaints: [] }
  context.on('request', (request) =>
    seen.requests.push({
      url: request.url(),
      method: request.method(),
      type: request.resourceType(),
      headers: request.headers(),
    }),
  )
  context.on('console', (message) => {
    if (/content security policy|trusted type/i.test(message.text())) seen.complaints.push(message.text())
  })
  context.on('weberror', (error) => seen.complaints.push(error.error().message))
  const page = await context.newPage()
  const end = async (): Promise<void> => {
    await context.close()
    if (seen.complaints.length > 0) throw new Error(`the browser complains:\n${seen.complaints.join('\n')}`)
  }
  return { context, page, seen, end }
}
