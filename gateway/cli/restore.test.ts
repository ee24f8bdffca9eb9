import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCommand } from '../testing/command.ts'
import { aBot, startTill, type Till } from '../testing/till.ts'

let till: Till

beforeAll(async () => {
  till = await startTill()
})
afterAll(() => till.close())

it('restore finish is allowed an hour to count items, because the till does nothing before the count is complete', async () => {
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
  const finish = ['restore', 'finish', '--unnoticed', '--reason', 'a snapshot']
  expect(await runCommand(finish, { databaseUrl: till.url })).toMatchObject({ code: 0 })
  const { rows } = await sql`select distinct statement_timeout from seen`.execute(till.db)
  expect(rows).toEqual([{ statement_timeout: '1h' }])
})
