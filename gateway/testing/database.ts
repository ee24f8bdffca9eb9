import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { type Database, openDatabase } from '../db/client.ts'
import { databaseUrl, TEMPLATE } from './setup.ts'

export type TestDatabase = Database & { url: string }

/** A migrated, empty database of the caller's own; `close()` drops it. */
export async function testDatabase(): Promise<TestDatabase> {
  const serverUrl = inject('databaseUrl')
  const name = `till_${randomBytes(6).toString('hex')}`
  await onServer(serverUrl, `create database ${name} template ${TEMPLATE}`)
  const url = databaseUrl(serverUrl, name)
  const database = openDatabase(url)
  const close = async () => {
    await database.close()
    await onServer(serverUrl, `drop database ${name} with (force)`)
  }
  return { ...database, url, close }
}

async function onServer(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
