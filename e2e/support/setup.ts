import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { buildConsoleIfChanged, buildWidgetIfChanged } from '../../scripts/build-pages.ts'
import { findChromium, findHeadlessShell } from '../../scripts/chromium.ts'
import { freePorts } from './process.ts'
import { endTill, newPlace, type Place, startTill } from './till.ts'

/** A running till that the test files of a worker share. */
export type SharedTill = Place & {
  /** Address of the gateway's metrics. */
  metrics: string
  /** File with the till's output. */
  outputFile: string
}

declare module 'vitest' {
  interface ProvidedContext {
    /** Address that gives a worker its till, by the worker's number. */
    tills: string
  }
}

export const SUPPORT_EMAIL = 'help@tradetill.example'

/** The variables that name Chromium and its headless shell. */
type BrowserPaths = { CHROMIUM_PATH: string; CHROMIUM_SHELL_PATH: string }

/** The browser and the till of a worker's tests. */
export type Provision = { browserPaths: BrowserPaths; till: SharedTill }

/** Finds the browser and builds the pages. Returns the browser's path. */
export async function prepare(): Promise<string> {
  const { CHROMIUM_PATH } = await findBrowser()
  await buildPages()
  return CHROMIUM_PATH
}

async function findBrowser(): Promise<BrowserPaths> {
  const executablePath = await findChromium()
  const paths = { CHROMIUM_SHELL_PATH: findHeadlessShell(executablePath), CHROMIUM_PATH: executablePath }
  Object.assign(process.env, paths)
  return paths
}

async function buildPages(): Promise<void> {
  await buildWidgetIfChanged()
  await buildConsoleIfChanged()
}

/**
 * Gives each worker one till, because starting a till costs more than most test files. A till starts when a file of its
 * worker first asks for it, so no till runs idle next to tests that do not need it. The other projects do not wait for
 * a Chromium that is being installed.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await buildPages()
  const browser = findBrowser()
  // If this fails, `provide` fails too, and the worker's request is answered with the error.
  browser.catch(() => {})
  const tills = new Map<string, Promise<{ shared: SharedTill; end(): Promise<void> }>>()
  const provide = async (worker: string): Promise<Provision> => {
    const browserPaths = await browser
    const till = tills.get(worker) ?? openTill()
    tills.set(worker, till)
    return { browserPaths, till: (await till).shared }
  }
  const server = createServer((request, response) => {
    provide(request.url ?? '').then(
      (provision) => response.end(JSON.stringify(provision)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the tills have no address')
  project.provide('tills', `http://127.0.0.1:${address.port}`)
  return async () => {
    server.closeAllConnections()
    server.close()
    // An installation that is interrupted would leave a broken package.
    await browser.catch(() => {})
    const ends = [...tills.values()].map(async (till) => {
      // A till that failed to start has nothing left to end.
      const started = await till.catch(() => undefined)
      await started?.end()
    })
    await Promise.all(ends)
  }
}

async function openTill(): Promise<{ shared: SharedTill; end(): Promise<void> }> {
  const place = await newPlace()
  const outputFile = join(place.root, 'output.log')
  const [metricsPort] = await freePorts(1)
  const env = {
    ...place.env,
    TRADETILL_HOME_URL: `${place.store}/`,
    TRADETILL_SUPPORT_EMAIL: SUPPORT_EMAIL,
    TRADETILL_MESSENGER_URL: 'https://messenger.example/tradetill',
    TRADETILL_METRICS_PORT: String(metricsPort),
  }
  const till = await startTill({ ...place, env }, outputFile)
  const metrics = `http://127.0.0.1:${metricsPort}/metrics`
  return { shared: { ...place, env, metrics, outputFile }, end: () => endTill(till) }
}
