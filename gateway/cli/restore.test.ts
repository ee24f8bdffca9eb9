import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { runCommand } from '../testing/command.ts'
import { aBot, startTill, type Till } from '../testing/till.ts'

let till: Till

beforeEach(async () => {
  till = await startTill()
})
afterEach(() => till.close())

it.each([
  ['restore finish', ['--unnoticed', '--reason', 'a snapshot']],
  ['restore recount', []],
])('%s is allowed an hour to count the items of years', async (words, options) => {
  await aBot(till)
  await sql`create table seen (statement_timeout text)`.execute(till.db)
  await sql`
    create function note_timeout() returns trigger language plpgsql as $$ begin
      insert into seen values (current_setting('statement_timeout')); return new;
    end $$`.execute(till.db)
  await sql`
    create trigger note before update of items_counted_to on bot for each row execute function note_timeout()`.execute(
    till.db,
  )
  const command = [...words.split(' '), ...options]
  expect(await runCommand(command, { databaseUrl: till.url })).toMatchObject({ code: 0 })
  const { rows } = await sql`select distinct statement_timeout from seen`.execute(till.db)
  expect(rows).toEqual([{ statement_timeout: '1h' }])
})
