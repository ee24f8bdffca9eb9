import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { type Database, openDatabase } from '../db/client.ts'
import { databaseUrl, TEMPLATE } from './setup.ts'

export type TestDatabase = Database & { url: string }

/** Creates a migrated, empty database for the caller. `close()` drops it. */
export async function testDatabase(): Promise<TestDatabase> {
  const url = await createDatabase()
  const database = openDatabase(url)
  const close = async () => {
    await database.close()
    await dropDatabase(url)
  }
  return { ...database, url, close }
}

/** Copies the template database; resolves to the copy's address. */
export async function createDatabase(): Promise<string> {
  const serverUrl = inject('databaseUrl')
  const name = `till_${randomBytes(6).toString('hex')}`
  await onServer(serverUrl, `create database ${name} template ${TEMPLATE} strategy file_copy`)
  return databaseUrl(serverUrl, name)
}

export function dropDatabase(url: string): Promise<void> {
  return onServer(inject('databaseUrl'), `drop database ${new URL(url).pathname.slice(1)} with (force)`)
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
