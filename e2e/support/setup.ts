import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { findChromium, findHeadlessShell } from '../../scripts/chromium.ts'
import { buildConsoleIfChanged, buildWidgetIfChanged } from '../../scripts/widget.ts'
import { freePorts } from './process.ts'
import { endTill, newPlace, type Place, startTill } from './till.ts'

/** A till that every file finds running. */
export type Shared = Place & {
  /** Where the gateway serves its metrics. */
  metrics: string
  /** All that the till has written. */
  outputFile: string
}

declare module 'vitest' {
  interface ProvidedContext {
    /** Where a worker asks for its till, by its number. */
    tills: string
  }
}

export const SUPPORT_EMAIL = 'help@tradetill.example'

/** A browser to be found, and a fresh widget. */
export async function prepare(): Promise<string> {
  const executablePath = findChromium()
  process.env.CHROMIUM_SHELL_PATH = findHeadlessShell(executablePath)
  process.env.CHROMIUM_PATH = executablePath
  await buildWidgetIfChanged()
  await buildConsoleIfChanged()
  return executablePath
}

/**
 * A till for each worker: starting one costs more than most files. A till starts when the first file of its worker asks
 * for it, so none runs idle beside the tests of the sources.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await prepare()
  const tills = new Map<string, Promise<{ shared: Shared; end(): Promise<void> }>>()
  const tillOf = async (worker: string): Promise<Shared> => {
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
    await Promise.all([...tills.values()].map(async (till) => (await till).end()))
  }
}

async function openTill(): Promise<{ shared: Shared; end(): Promise<void> }> {
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
