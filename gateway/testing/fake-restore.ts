/** A fake pg_restore: replaces the database with a copy of the tests' template, marked as a till's. */
import pg from 'pg'
import { claimDatabase } from '../db/identity.ts'
import { fingerprintOf } from '../kit/secret-box.ts'

const [name = ''] = process.argv.slice(2)

async function onDatabase(database: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ database })
  await client.connect()
  await work(client)
  await client.end()
}

await onDatabase('postgres', async (client) => {
  await client.query(`drop database ${name}`)
  await client.query(`create database ${name} template till_template`)
})
// The master key with which `command.ts` runs the commands.
await onDatabase(name, (client) =>
  claimDatabase(client, { mode: 'sandbox', keyFingerprint: fingerprintOf(Buffer.alloc(32, 7)) }),
)
