/** One embedded PostgreSQL for a run of the tests, with a migrated database that the tests copy. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { startEmbedded } from '../../embedded-postgres/embedded.ts'
import { createQueue } from '../db/boss-queue.ts'
import { migrate } from '../db/migrate.ts'
import { createLog } from '../kit/log.ts'

export const TEMPLATE = 'till_template'

declare module 'vitest' {
  interface ProvidedContext {
    databaseUrl: string
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tradetill-tests-'))
  // If the tests run as root, PostgreSQL runs as another account, which must be able to enter the folder.
  chmodSync(dataDir, 0o711)
  const log = createLog({ level: 'error' })
  const embedded = await startEmbedded({ dataDir, log, fsync: false })
  const client = new pg.Client({ connectionString: embedded.url })
  await client.connect()
  await client.query(`create database ${TEMPLATE}`)
  await client.end()
  const template = databaseUrl(embedded.url, TEMPLATE)
  await migrate({ url: template })
  const queue = await createQueue({ url: template, log })
  await queue.stop()
  project.provide('databaseUrl', embedded.url)
  return async () => {
    await embedded.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** The server's address with the name of this database. */
export function databaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${database}`
  return url.href
}
