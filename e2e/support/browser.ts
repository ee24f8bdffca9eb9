import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core'

/**
 * Features of Chromium that are switched off. With the first four on, every window loads pages of the browser itself
 * for its address bar. Those cost more than ours. The others are copied from playwright-core, whose list this one
 * replaces.
 */
export const UNWANTED_FEATURES: readonly string[] = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
  'AimEnabled',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'OptimizationHints',
  'PreconnectToSearch',
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

/** Playwright's default argument against the back-forward cache, which shoppers' browsers use. */
const NO_BACK_FORWARD_CACHE = '--disable-back-forward-cache'

/** Starts a browser. `keepsPages`: it keeps pages in its memory for Back and Forward. */
export function launchBrowser({ keepsPages = false } = {}): Promise<Browser> {
  const executablePath = process.env.CHROMIUM_PATH
  if (executablePath === undefined) throw new Error('CHROMIUM_PATH is not set: run the tests with npm test')
  const ignoreDefaultArgs = keepsPages ? [NO_BACK_FORWARD_CACHE] : false
  return chromium.launch({ executablePath, args: BROWSER_ARGS, ignoreDefaultArgs })
}

/** Starts the headless shell. It ends with this process, even if the process is killed. */
export function launchShell(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM_SHELL_PATH
  if (executablePath === undefined)
    throw new Error('CHROMIUM_SHELL_PATH is not set: run the tests with npm test')
  // The shell ends when its pipe closes. Playwright's own signal handlers would keep signals from ending this process.
  const signals = { handleSIGHUP: false, handleSIGINT: false, handleSIGTERM: false }
  return chromium.launch({ executablePath, args: BROWSER_ARGS, ...signals })
}

/** How long a test waits for a page, at most. Long enough for a slow machine. */
export const WAIT_MS = 60_000
const SCREENSHOT_TIMEOUT_MS = 10_000

export const DESKTOP = { width: 1440, height: 900 }
/** The desktop layout with less to draw, for tests that do not depend on the size. */
export const SMALL_DESKTOP = { width: 1024, height: 600 }
export const MOBILE = { width: 390, height: 844 }

export type Seen = {
  /** Every request of every page of the visit. */
  requests: { url: string; method: string; type: string; headers: Record<string, string> }[]
  /** Violations of a content security policy, and uncaught errors. */
  complaints: string[]
}

export type Visit = {
  context: BrowserContext
  page: Page
  seen: Seen
  /** Closes the context. Throws if a policy was violated or an error was not caught. */
  end(): Promise<void>
}

/** The files that a failed test saves about its browser: pictures and texts by name. */
export function evidenceOf({ context, seen }: Visit): [string, () => Promise<string | Buffer>][] {
  const lastPage = () => context.pages().at(-1)
  const nothing = 'no page was open'
  return [
    ['page.png', async () => (await lastPage()?.screenshot({ timeout: SCREENSHOT_TIMEOUT_MS })) ?? nothing],
    ['page.html', async () => (await lastPage()?.content()) ?? nothing],
    ['requests.txt', async () => seen.requests.map(({ method, url }) => `${method} ${url}`).join('\n')],
  ]
}

/** Removes the payment from the page's document, so only the call for the payment delivers it. */
export async function withoutShownPayment(page: Page): Promise<void> {
  await page.route(/\/(?:deposit\/)?[0-9a-f]{32}$/, async (route) => {
    const response = await route.fetch()
    const html = (await response.text()).replace(/<div id="shell">.*?<\/script>/s, '')
    await route.fulfill({ response, body: html })
  })
}

/** Opens a browser context of one shopper, with a record of its requests and errors. */
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
