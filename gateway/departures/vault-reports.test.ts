/** Which reports of the vault the till books, and when. */
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inTransaction } from '../db/transaction.ts'
import { beginEpoch, claimFirstEpoch } from '../epochs/store.ts'
import { receivedIdOf } from '../testing/fake-steam.ts'
import { payFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, jump, PROTECTION_DAYS, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { createWaits } from './vault-report-waits.ts'
import { bookVaultLog } from './vault-reports.ts'

const MARKET = 'market.csgo.com'
const DOTA = 570
const CS = 730
const DAY_S = 86_400
const DAY_MS = 1_000 * DAY_S

let till: Till

beforeAll(async () => {
  till = await startTill()
})
afterAll(() => till.close())

const GIFT = JSON.stringify({ kind: 'gift', partnerSteamId: '76561198000000001', assets: [] })
/** A report of a listing whose item the till does not know. */
const waitingRow = (n: number) => ({
  n: BigInt(n),
  part: 0,
  at: till.clock.now(),
  market: MARKET,
  reference: `s${n}`,
  told: JSON.stringify({ kind: 'listing', appId: DOTA, listedAssetId: `99${n}`, price: '100' }),
})
const answeredRows = async () => {
  const rows = await till.db.selectFrom('vault_told').select('n').where('answer', 'is not', null).execute()
  return rows.map(({ n }) => n)
}

describe('a listing', () => {
  it('that waits for its item does not keep later reports waiting, even if hundreds of listings wait', async () => {
    const waiting = Array.from({ length: 501 }, (_, index) => waitingRow(index + 1))
    const rows = [...waiting, { ...waitingRow(502), told: GIFT }]
    await till.db.insertInto('vault_told').values(rows).execute()
    await bookVaultLog(till.deps)
    expect(await answeredRows()).toEqual([502n])
    await till.db.deleteFrom('vault_told').execute()
  })

  it('that waits for its item does not keep later reports waiting, even if it has tens of thousands of reports', async () => {
    await till.db.insertInto('vault_told').values(waitingRow(1)).execute()
    const repriced = JSON.stringify({ kind: 'report', report: { kind: 'repriced', price: '100' } })
    await sql`
      insert into vault_told (n, part, at, market, reference, told)
      select n, 0, ${till.clock.now()}, ${MARKET}, 's1', ${repriced}::jsonb from generate_series(2, 20500) n`.execute(
      till.db,
    )
    await till.db
      .insertInto('vault_told')
      .values({ ...waitingRow(20_501), reference: 'gift', told: GIFT })
      .execute()
    await bookVaultLog(till.deps)
    expect(await answeredRows()).toEqual([20_501n])
    await till.db.deleteFrom('vault_told').execute()
  })

  it('that has waited for its item for an hour is tried again after some minutes, ten at most', async () => {
    await till.db.insertInto('vault_told').values(waitingRow(1)).execute()
    const waits = createWaits()
    const bookEveryTenSeconds = async (seconds: number) => {
      for (let second = 0; second < seconds; second += 10) {
        await bookVaultLog(till.deps, waits)
        till.clock.advance(10_000)
      }
    }
    // The waits have grown to ten minutes, and the last of them began at second 3,630.
    await bookEveryTenSeconds(3_700)
    // From now on the row could be booked.
    await till.db.updateTable('vault_told').set({ told: GIFT }).execute()
    await bookEveryTenSeconds(60)
    expect(await answeredRows()).toEqual([])
    await bookEveryTenSeconds(600)
    expect(await answeredRows()).toEqual([1n])
    await till.db.deleteFrom('vault_told').execute()
  })

  it('waits two days for its item from the end of a restore on, however old the vault’s report is', async () => {
    await claimFirstEpoch(till.db, new Date(0))
    const told = { ...waitingRow(1), at: new Date(till.clock.now().getTime() - 3 * DAY_MS) }
    await till.db.insertInto('vault_told').values(told).execute()
    // As in a restored database, whose trades since the backup must be read from Steam again.
    await till.db
      .updateTable('epoch')
      .set((eb) => ({ log_oid: eb('log_oid', '+', 1n) }))
      .execute()
    await bookVaultLog(till.deps)
    expect(await answeredRows()).toEqual([])
    await inTransaction(till.db, (tx) => beginEpoch(tx, till.clock.now()))
    await bookVaultLog(till.deps)
    expect(await answeredRows()).toEqual([])
    till.clock.advance(2 * DAY_MS)
    await bookVaultLog(till.deps)
    expect(await answeredRows()).toEqual([1n])
    await till.db.deleteFrom('vault_told').execute()
  })

  it('waits if its item is still protected in the books, as after a restore', async () => {
    const { bot, session } = await aBot(till)
    const deposit = await aDeposit(till, await aStore(till), { game: 'cs' })
    await payFor(till, { bot, session }, deposit)
    await jump(till, (PROTECTION_DAYS + 1) * DAY_S)
    const listedAssetId = receivedIdOf([...deposit.body.items][0])
    const told = JSON.stringify({ kind: 'listing', appId: CS, listedAssetId, price: '100' })
    await till.db
      .insertInto('vault_told')
      .values({ ...waitingRow(1), reference: 'protected', told })
      .execute()
    await bookVaultLog(till.deps)
    expect(await answeredRows()).toEqual([])
    const trade = await till.db
      .selectFrom('trade')
      .select('id')
      .where('deposit_id', '=', deposit.id)
      .executeTakeFirstOrThrow()
    await tradeHandlers(till.deps).trade(bot, trade.id)
    await bookVaultLog(till.deps)
    const answers = await till.db.selectFrom('vault_told').select('answer').execute()
    expect(answers).toEqual([{ answer: 'recorded' }])
    await till.db.deleteFrom('vault_told').execute()
  })

  it('that has waited for its item is tried again at once if the clock is set back', async () => {
    await till.db.insertInto('vault_told').values(waitingRow(1)).execute()
    const waits = createWaits()
    await bookVaultLog(till.deps, waits)
    await till.db.updateTable('vault_told').set({ told: GIFT }).execute()
    till.clock.advance(-172_800_000)
    await bookVaultLog(till.deps, waits)
    expect(await answeredRows()).toEqual([1n])
    await till.db.deleteFrom('vault_told').execute()
  })

  it('that waits for its item keeps its own reports waiting, however long the other reports take', async () => {
    const sold = JSON.stringify({ kind: 'report', report: { kind: 'sold' } })
    const rows = [
      waitingRow(1),
      { ...waitingRow(2), told: GIFT },
      { ...waitingRow(3), reference: 's1', told: sold },
    ]
    await till.db.insertInto('vault_told').values(rows).execute()
    const slowClock = {
      ...till.clock,
      now() {
        till.clock.advance(10_000)
        return till.clock.now()
      },
    }
    await bookVaultLog({ ...till.deps, clock: slowClock })
    expect(await answeredRows()).toEqual([2n])
    await till.db.deleteFrom('vault_told').execute()
  })

  it('that waits for its item keeps its own reports waiting, even if more listings wait than are remembered', async () => {
    const sold = JSON.stringify({ kind: 'report', report: { kind: 'sold' } })
    const rows = [waitingRow(1), waitingRow(2), { ...waitingRow(3), reference: 's1', told: sold }]
    await till.db.insertInto('vault_told').values(rows).execute()
    await bookVaultLog(till.deps, createWaits(1))
    expect(await answeredRows()).toEqual([])
    await till.db.deleteFrom('vault_told').execute()
  })
})

it('a report with a number that no game can have is answered as unreadable, and does not keep later ones waiting', async () => {
  const listing = { kind: 'listing', appId: 2 ** 31, listedAssetId: '991', price: '100' }
  const rows = [
    { ...waitingRow(1), told: JSON.stringify(listing) },
    { ...waitingRow(2), told: GIFT },
  ]
  await till.db.insertInto('vault_told').values(rows).execute()
  await bookVaultLog(till.deps)
  const answers = await till.db.selectFrom('vault_told').select('answer').orderBy('n').execute()
  expect(answers.map(({ answer }) => answer)).toEqual(['unreadable', 'recorded'])
  await till.db.deleteFrom('vault_told').execute()
})
