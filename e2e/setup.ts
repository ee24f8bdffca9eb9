import { join } from 'node:path'
import { chromium } from 'playwright-core'
import type { TestProject } from 'vitest/node'
import { findChromium, findHeadlessShell } from '../scripts/chromium.ts'
import { buildWidgetIfChanged } from '../scripts/widget.ts'
import { BROWSER_ARGS } from './browser.ts'
import { freePorts } from './process.ts'
import { endTill, newPlace, type Place, startTill } from './till.ts'
import { E2E_WORKERS } from './workers.ts'

/** What every file finds running. */
export type Shared = Place & {
  /** Where the gateway serves its metrics. */
  metrics: string
  /** All that the till has written. */
  outputFile: string
  /** Address of the browser. */
  browser: string
}

declare module 'vitest' {
  interface ProvidedContext {
    /** One for each worker. */
    shared: Shared[]
  }
}

export const SUPPORT_EMAIL = 'help@tradetill.example'

/** A browser to be found, and a fresh widget. */
export async function prepare(): Promise<string> {
  const executablePath = findChromium()
  process.env.CHROMIUM_SHELL_PATH = findHeadlessShell(executablePath)
  process.env.CHROMIUM_PATH = executablePath
  await buildWidgetIfChanged()
  return executablePath
}

/** A till for each worker and one browser for all: starting them costs more than most files. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const executablePath = findHeadlessShell(await prepare())
  const browser = await chromium.launchServer({ executablePath, args: BROWSER_ARGS })
  const stages = await Promise.all(Array.from({ length: E2E_WORKERS }, () => openStage(browser.wsEndpoint())))
  project.provide(
    'shared',
    stages.map(({ shared }) => shared),
  )
  return async () => {
    await browser.close()
    await Promise.all(stages.map(({ end }) => end()))
  }
}

async function openStage(browser: string): Promise<{ shared: Shared; end(): Promise<void> }> {
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
  return { shared: { ...place, env, metrics, outputFile, browser }, end: () => endTill(till) }
}
