/** Compares the reads of stores and operators with the rows: deposits, event pages, the statement, `deposit show`. */
import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'
import { z } from 'zod'
import type { StoreDeposit } from '../../../contract/store-api.ts'
import type { WebhookEvent } from '../../../contract/webhooks.ts'
import type { Db } from '../../../gateway/db/client.ts'
import type { Tables } from '../../../gateway/db/schema.ts'
import { listDeposits } from '../../../gateway/deposits/store-deposit.ts'
import { timelineOf } from '../../../gateway/deposits/timeline-store.ts'
import { readEvents } from '../../../gateway/events/store.ts'
import { readStatement } from '../../../gateway/stores/balance-store.ts'
import { must } from '../violation.ts'

/** The reads as one value, so a defect can be planted by passing another value. */
export const READS = { listDeposits, readEvents, readStatement, timelineOf }

export type Reads = typeof READS

/** The rows of a page: few, so lists have several pages. */
const PAGE = 3
const CURRENCY = 'USD'

const rowsSchema = z.object({
  deposits: z.array(
    z.object({
      id: z.string(),
      store: z.string(),
      hash: z.string(),
      status: z.string(),
      amount: z.number().nullable(),
      held: z.number(),
      heldUntil: z.number().nullable(),
      reversed: z.number(),
      steamTradeIds: z.array(z.string()),
      itemsBack: z.array(z.string()),
      moved: z.number(),
      movements: z.number(),
      events: z.number(),
      deliveries: z.number(),
    }),
  ),
  events: z.array(z.object({ store: z.string(), sequence: z.number(), id: z.string(), deposit: z.string() })),
  balances: z.array(
    z.object({ store: z.string(), held: z.number(), available: z.number(), movements: z.number() }),
  ),
})

type Rows = z.infer<typeof rowsSchema>
type Row = Rows['deposits'][number]

/** An independent query for the expected values. */
const ROWS = `select
  (select coalesce(json_agg(json_build_object('id', d.id::text, 'store', store_id::text, 'hash', hash, 'status', status,
    'amount', credited_amount, 'held', held_amount, 'heldUntil', extract(epoch from held_until) * 1000, 'reversed', reversed_amount,
    'steamTradeIds', (select coalesce(json_agg(steam_trade_id order by delivered_at desc), '[]') from trade where deposit_id = d.id and delivered_at is not null),
    'itemsBack', (select coalesce(json_agg(asset_id order by asset_id), '[]') from trade_item i join trade t on t.id = i.trade_id
      where t.deposit_id = d.id and reversed_at is not null),
    'moved', (select coalesce(sum(amount), 0) from ledger_entry e join trade t on t.id = e.trade_id where t.deposit_id = d.id),
    'movements', (select count(*) from ledger_entry e join trade t on t.id = e.trade_id where t.deposit_id = d.id),
    'events', (select count(*) from event where deposit_id = d.id),
    'deliveries', (select count(*) from trade where deposit_id = d.id and delivered_at is not null)
    ) order by created_at desc, d.id desc), '[]') from deposit d) as deposits,
  (select coalesce(json_agg(json_build_object('store', store_id::text, 'sequence', sequence, 'id', id, 'deposit', deposit_id::text)
    order by store_id, sequence), '[]') from event where sequence is not null) as events,
  (select coalesce(json_agg(json_build_object('store', store.id::text,
    'held', (select coalesce(sum(balance), 0) from account where store_id = store.id and kind = 'held'),
    'available', (select coalesce(sum(balance), 0) from account where store_id = store.id and kind = 'available'),
    'movements', (select count(*) from ledger_entry where debit_account in (select id from account where store_id = store.id)
      or credit_account in (select id from account where store_id = store.id))
      + (select count(*) from ledger_entry e join account a on a.id = e.debit_account and a.kind = 'loss'
        join trade t on t.id = e.trade_id join deposit d on d.id = t.deposit_id
        where d.store_id = store.id and e.cause = 'reversed' and not exists (
          select from ledger_entry o join account b on b.id = o.debit_account and b.store_id is not null
          where o.trade_id = e.trade_id and o.cause = 'reversed' and o.part = e.part)))), '[]') from store) as balances`

type Reading = { db: Db; reads: Reads; rows: Rows }

/** `pool`: nothing else may run in its database. */
export async function checkReads(pool: pg.Pool, reads: Reads): Promise<void> {
  const answer = await pool.query<Record<string, unknown>>(ROWS)
  const rows = rowsSchema.parse(answer.rows[0])
  // Never destroyed, because that would end the caller's pool.
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  const reading = { db, reads, rows }
  for (const { store } of rows.balances) {
    const listed = await checkList(reading, store)
    await checkEvents(reading, store, listed)
    await checkStatement(reading, store)
  }
  for (const row of rows.deposits) await checkTimeline(reading, row)
}

/** Reads all pages of a list. Stops soon after `most` entries, because wrong pages might never end. */
async function pagesOf<T, C>(
  most: number,
  read: (after: C | undefined) => Promise<{ page: readonly T[]; next: C | undefined }>,
): Promise<T[]> {
  const entries: T[] = []
  let after: C | undefined
  for (let pages = 0; pages <= most / PAGE + 1; pages += 1) {
    const { page, next } = await read(after)
    entries.push(...page)
    if (next === undefined) break
    after = next
  }
  return entries
}

const isSame = (some: readonly unknown[], others: readonly unknown[]): boolean =>
  some.length === others.length && some.every((each, index) => each === others[index])

async function checkList({ db, reads, rows }: Reading, store: string): Promise<StoreDeposit[]> {
  const expected = rows.deposits.filter((row) => row.store === store)
  const readList = (status?: 'succeeded') =>
    pagesOf<StoreDeposit, string>(expected.length, async (after) => {
      const query = { limit: PAGE, ...(after && { after }), ...(status && { status }) }
      const { deposits, next } = await reads.listDeposits(db, BigInt(store), { query, publicUrl: '' })
      return { page: deposits, next: next ?? undefined }
    })
  const listed = await readList()
  const ids = listed.map(({ id }) => id)
  must(
    isSame(
      ids,
      expected.map(({ id }) => id),
    ),
    'I16',
    () => `store ${store} sees the deposits ${ids}`,
  )
  for (const [index, row] of expected.entries()) checkListed(row, listed[index])
  const succeededIds = (await readList('succeeded')).map(({ id }) => id)
  const succeeded = expected.flatMap(({ id, status }) => (status === 'succeeded' ? [id] : []))
  must(isSame(succeededIds, succeeded), 'I16', () => `store ${store} sees the paid deposits ${succeededIds}`)
  return listed
}

function checkListed(row: Row, listed: StoreDeposit | undefined): void {
  if (listed === undefined) return
  const { status, amount, heldAmount, heldUntil, reversedAmount, chargedAmount, availableAmount, trade } =
    listed
  const until = heldUntil === null ? null : Date.parse(heldUntil)
  const shown = [status, amount, heldAmount, until, reversedAmount]
  must(
    isSame(shown, [row.status, row.amount, row.held, row.heldUntil, row.reversed]),
    'I16',
    () => `deposit ${row.id} is listed as ${shown}`,
  )
  const isSum = availableAmount === (amount ?? 0) - heldAmount - (chargedAmount ?? 0)
  must(
    isSum && availableAmount >= 0,
    'I16',
    () => `deposit ${row.id} is listed with ${availableAmount} available`,
  )
  const [steamTradeId] = row.steamTradeIds
  const isProved = steamTradeId === undefined || trade?.steamTradeId === steamTradeId
  must(isProved, 'I16', () => `deposit ${row.id} is listed with the Steam trade ${trade?.steamTradeId}`)
  const back = (trade?.items ?? []).flatMap(({ assetId, reversed }) => (reversed ? [assetId] : []))
  const isBack =
    row.deliveries > 1 ? back.every((id) => row.itemsBack.includes(id)) : isSame(back, row.itemsBack)
  must(isBack, 'I16', () => `deposit ${row.id} is listed with the items ${back} taken back`)
}

async function checkEvents(
  { db, reads, rows }: Reading,
  store: string,
  listed: readonly StoreDeposit[],
): Promise<void> {
  const expected = rows.events.filter((event) => event.store === store)
  const events = await pagesOf<WebhookEvent, number>(expected.length, async (after = 0) => {
    const { events, next, hasMore } = await reads.readEvents(db, BigInt(store), { after, limit: PAGE })
    return { page: events, next: hasMore ? next : undefined }
  })
  // The simulation restores no database, so every event belongs to a deposit.
  const deposits = events.flatMap((event) => (event.type === 'epoch.started' ? [] : [event.data]))
  const isWhole =
    isSame(
      events.map(({ id }) => id),
      expected.map(({ id }) => id),
    ) && events.every(({ sequence }, at) => sequence === at + 1 && deposits[at]?.id === expected[at]?.deposit)
  must(isWhole, 'I16', () => `store ${store} reads the events ${events.map(({ sequence }) => sequence)}`)
  const latest = new Map(deposits.map((data) => [data.id, data]))
  const rowsById = new Map(rows.deposits.map((row) => [row.id, row]))
  for (const { id, status, amount, heldAmount, reversedAmount } of listed) {
    const last = latest.get(id)
    const numbered = expected.filter(({ deposit }) => deposit === id).length
    // Skips a deposit with an event that has no number yet.
    if (last === undefined || numbered !== rowsById.get(id)?.events) continue
    const listedValues = [status, amount, heldAmount, reversedAmount]
    const eventValues = [last.status, last.amount, last.heldAmount, last.reversedAmount]
    must(
      isSame(listedValues, eventValues),
      'I16',
      () => `deposit ${id} is ${listedValues}, but its last event says ${eventValues}`,
    )
  }
}

async function checkStatement({ db, reads, rows }: Reading, store: string): Promise<void> {
  const balance = rows.balances.find((each) => each.store === store)
  if (balance === undefined) return
  const movements = await pagesOf(balance.movements, async (after: string | undefined) => {
    const query = { currency: CURRENCY, limit: PAGE, ...(after && { after }) } as const
    const { movements, next } = await reads.readStatement(db, BigInt(store), query)
    return { page: movements, next: next ?? undefined }
  })
  const name = `the statement of store ${store}`
  const isInOrder = movements.every(
    ({ id }, index) => index === 0 || BigInt(id) < BigInt(movements[index - 1]?.id ?? 0),
  )
  must(isInOrder, 'I16', () => `${name} is out of order`)
  must(
    movements.length === balance.movements,
    'I16',
    () => `${name} has ${movements.length} of ${balance.movements} movements`,
  )
  const sums = { held: 0, available: 0 }
  const heldOf = new Map<string | null, number>()
  for (const { depositId, held, available } of movements) {
    sums.held += held
    sums.available += available
    heldOf.set(depositId, (heldOf.get(depositId) ?? 0) + held)
  }
  must(
    sums.held === balance.held && sums.available === balance.available,
    'I16',
    () => `${name} sums to ${sums.held} held and ${sums.available} available`,
  )
  for (const { id, store: owner, held } of rows.deposits) {
    if (owner !== store) continue
    const summed = heldOf.get(id) ?? 0
    must(summed === held, 'I16', () => `${name} has ${summed} held of deposit ${id}, which holds ${held}`)
  }
}

/** Checks what an operator sees of a deposit. */
async function checkTimeline({ db, reads }: Reading, row: Row): Promise<void> {
  const moments = (await reads.timelineOf(db, BigInt(row.id))) ?? []
  const name = `deposit ${row.id} in the operator's view`
  const count = (start: RegExp): number => moments.filter(({ what }) => start.test(what)).length
  const shown = {
    movements: count(/^ledger: /),
    events: count(/^event /),
    deliveries: count(/^trade \d+: (?:proof that the bot has |credited by an operator)/),
  }
  const { movements, events, deliveries } = row
  must(
    shown.movements === movements && shown.events === events && shown.deliveries === deliveries,
    'I16',
    () => `${name} has ${JSON.stringify(shown)}, not ${JSON.stringify({ movements, events, deliveries })}`,
  )
  const moved = moments.reduce(
    (sum, { what, amountMinor }) => sum + (what.startsWith('ledger: ') ? Number(amountMinor) : 0),
    0,
  )
  must(moved === row.moved, 'I16', () => `${name} moves ${moved}, not ${row.moved}`)
  const isInOrder = moments.every(({ at }, index) => index === 0 || at >= (moments[index - 1]?.at ?? at))
  must(isInOrder, 'I16', () => `${name} is out of order`)
  const isSecret = moments.some(({ what }) => what.includes(row.hash))
  must(!isSecret, 'I14', () => `${name} shows its whole hash`)
}
