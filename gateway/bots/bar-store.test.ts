import { sql } from 'kysely'
import { expect, it, onTestFinished } from 'vitest'
import { inTransaction } from '../db/transaction.ts'
import { testDatabase } from '../testing/database.ts'
import { type BarReason, type BarScope, barStateOf } from './bar.ts'
import { barStateFor } from './bar-store.ts'
import { saveBot } from './store.ts'

type Row = { scope: BarScope; reason: BarReason; seconds: number }

/** Each scope has no bar, or one that ended a second ago, ends now, or ends in a second. */
const rowsOf = (scope: BarScope): (Row | null)[] => [
  null,
  ...[-1, 0, 1].flatMap((seconds) =>
    (['doubted', 'inventory_full'] as const).map((reason) => ({ scope, reason, seconds })),
  ),
]

const OF_ANOTHER_GAME: Row = { scope: 'dota', reason: 'inventory_full', seconds: 1 }
const TABLE: Row[][] = rowsOf('all').flatMap((all) =>
  rowsOf('cs').flatMap((cs) =>
    [null, OF_ANOTHER_GAME].map((other) => [all, cs, other].filter((row) => row !== null)),
  ),
)

it('the query for the state of a bot’s bars agrees with the rule, whatever bars there are', async () => {
  const { db, close } = await testDatabase()
  onTestFinished(close)
  const profile = { steamId: '76561198000000001', name: 'Bot', level: 10, avatarUrl: '/a.jpg' }
  const botId = await saveBot(
    db,
    { ...profile, profileUrl: '/profiles/1', memberSince: null },
    { sealed: Buffer.from('sealed'), expiresAt: null, acknowledged: true },
  )
  const seen = new Set<string>()
  // The database's time stands still in a transaction.
  await inTransaction(db, async (tx) => {
    for (const rows of TABLE) {
      await tx.deleteFrom('bot_bar').execute()
      for (const { scope, reason, seconds } of rows) {
        const now = sql<Date>`till_now()`
        const until = sql<Date>`till_now() + make_interval(secs => ${seconds})`
        const values = { bot_id: botId, scope, reason, barred_at: now, until, times: 1 }
        await tx.insertInto('bot_bar').values(values).execute()
      }
      const bars = await tx.selectFrom('bot_bar').selectAll().where('scope', 'in', ['all', 'cs']).execute()
      const { now, barState } = await tx
        .selectFrom('bot')
        .select([sql<Date>`till_now()`.as('now'), barStateFor('cs').as('barState')])
        .executeTakeFirstOrThrow()
      expect(barState, JSON.stringify(rows)).toBe(barStateOf(bars, now))
      seen.add(barState)
    }
  })
  expect([...seen].sort()).toEqual(['barred', 'doubted', 'free'])
})
