/**
 * Browser windows as people use them: a tab behind another tab is hidden. In a browser that Playwright starts, every
 * page stays visible. So the browser is started here, and Playwright only connects to it.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { chromium, type Page } from 'playwright-core'
import { BROWSER_ARGS, DESKTOP } from '../e2e/support/browser.ts'

export type Windows = {
  /** Opens a window with one tab. The tab is hidden only while another tab of the window is in front. */
  open(): Promise<Page>
  /** Resolves to the tab that `action` opens. */
  tabOpenedBy(action: () => Promise<unknown>): Promise<Page>
  close(): Promise<void>
}

/** The longest that one step in a page may take. */
const STEP_MS = 90_000

export async function openWindows(executablePath: string): Promise<Windows> {
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-windows-'))
  const args = ['--headless=new', '--remote-debugging-port=0', '--lang=en-US', `--user-data-dir=${folder}`]
  const child = spawn(executablePath, [...BROWSER_ARGS, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  const exited = once(child, 'exit')
  // Ends the browser even if the bench fails.
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  const end = async (): Promise<void> => {
    process.off('exit', kill)
    kill()
    await exited
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    const browser = await chromium.connectOverCDP(await addressOf(child.stderr), { noDefaults: true })
    const [context] = browser.contexts()
    if (context === undefined) throw new Error('the browser has no profile')
    context.setDefaultTimeout(STEP_MS)
    const session = await browser.newBrowserCDPSession()
    let last: Promise<unknown> = Promise.resolve()
    const tabOpenedBy = (action: () => Promise<unknown>): Promise<Page> => {
      const next = last.then(async () => {
        const [page] = await Promise.all([context.waitForEvent('page'), action()])
        return page
      })
      // One at a time, because the browser does not report which action opened a page.
      last = next.catch(() => {})
      return next
    }
    const window = { url: 'about:blank', newWindow: true, ...DESKTOP }
    return {
      tabOpenedBy,
      open: () => tabOpenedBy(() => session.send('Target.createTarget', window)),
      async close() {
        await browser.close()
        await end()
      },
    }
  } catch (error) {
    await end()
    throw error
  }
}

async function addressOf(stderr: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface(stderr)) {
    const address = /DevTools listening on (ws:\S+)/.exec(line)?.[1]
    if (address !== undefined) {
      stderr.resume()
      return address
    }
  }
  throw new Error('the browser ended before it could be reached')
}
