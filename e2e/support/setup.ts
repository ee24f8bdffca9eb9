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

/** Finds the browser and builds the pages. Returns the browser's path. */
export async function prepare(): Promise<string> {
  const executablePath = findChromium()
  process.env.CHROMIUM_SHELL_PATH = findHeadlessShell(executablePath)
  process.env.CHROMIUM_PATH = executablePath
  await buildWidgetIfChanged()
  await buildConsoleIfChanged()
  return executablePath
}

/**
 * Gives each worker one till, because starting a till costs more than most test files. A till starts when a file of its
 * worker first asks for it, so no till runs idle next to tests that do not need it.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await prepare()
  const tills = new Map<string, Promise<{ shared: SharedTill; end(): Promise<void> }>>()
  const tillOf = async (worker: string): Promise<SharedTill> => {
    const till = tills.get(worker) ?? openTill()
    tills.set(worker, till)
    return (await till).shared
  }
  const server = createServer((request, response) => {
    tillOf(request.url ?? '').then(
      (shared) => response.end(JSON.stringify(shared)),
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
