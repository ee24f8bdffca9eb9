/**
 * Measures credits per second of one busy store. Its trades are protected, so each adds to the store's credit at
 * risk. The comparisons are one bare statement that writes the same rows, and a transaction that locks the store's
 * balance first.
 */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import pg from 'pg'
import { type Db, openDatabase } from '../gateway/db/client.ts'
import { inTransaction } from '../gateway/db/transaction.ts'
import type { Delivery } from '../gateway/testing/delivery.ts'
import { createTradeStore, openTradeTx } from '../gateway/trades/postgres-store.ts'
import { record } from '../gateway/trades/record.ts'
import type { TradeStore } from '../gateway/trades/trade-store.ts'
import { type CutTill, openCutTill } from '../proofs/cut/till.ts'
import { withDatabase } from './database.ts'
import { median, type Outcome } from './outcome.ts'

/** A credit must be at least this many times as fast as one that locks the balance first. */
const LIMIT = 1.4
/** A credit may take up to this many times as long as the bare statement. */
const FLOOR_LIMIT = 2
const CLIENTS = 32
const ROUNDS = 5
/** The fewest credits that a round measures. */
const CREDITS = 128
/** How many deliveries are prepared at the same time. */
const MADE_AT_ONCE = 8
const NO_LIMIT = 1_000_000_000_000n

type Credit = (db: Db, delivery: Delivery) => Promise<unknown>

export function benchLedger(): Promise<Outcome> {
  return withDatabase({ fsync: true }, async (serverUrl) => {
    const till = await openCutTill(serverUrl)
    const { db, close } = openDatabase(till.url, CLIENTS)
    const pool = new pg.Pool({ connectionString: till.url, max: CLIENTS })
    try {
      const { storeId } = await till.makeDelivery()
      await db.updateTable('store').set({ risk_limit_usd_cents: NO_LIMIT }).execute()
      const kinds = {
        ours: creditWithTill(till),
        bare: creditWithBareStatement(pool),
        locked: creditLockingFirst(till),
      }
      const figures = { ours: [] as number[], bare: [] as number[], locked: [] as number[] }
      // Warms up.
      await perSecond(till, { db, storeId, credit: kinds.ours })
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const kind of ['ours', 'bare', 'locked'] as const)
          figures[kind].push(await perSecond(till, { db, storeId, credit: kinds[kind] }))
      }
      return judge(median(figures.ours), { bare: median(figures.bare), locked: median(figures.locked) })
    } finally {
      await pool.end()
      await close()
      await till.close()
    }
  })
}

function judge(ours: number, { bare, locked }: { bare: number; locked: number }): Outcome {
  const perSecond = (count: number) => `${Math.round(count)}/s`
  const slowerThanBare = bare / ours
  const fasterThanLocked = ours / locked
  const againstFloor: Outcome = {
    name: 'ledger-floor',
    ours: perSecond(ours),
    floor: perSecond(bare),
    ratio: slowerThanBare,
    limit: `<=${FLOOR_LIMIT}`,
    passed: slowerThanBare <= FLOOR_LIMIT,
  }
  return {
    name: 'ledger',
    ours: perSecond(ours),
    floor: perSecond(locked),
    ratio: fasterThanLocked,
    limit: `>=${LIMIT}`,
    passed: fasterThanLocked >= LIMIT && againstFloor.passed,
    further: [againstFloor],
  }
}

const BARE = `
  with trade as (
    update trade set state = 'held', steam_offer_id = $2, steam_trade_id = $3, settles_at = now() + interval '8 days',
      delivered_at = now(), due_at = now() + interval '8 days', at_risk_amount = total, credit_mode = 'on_accept',
      liability = 'operator', risk_limit_usd_cents = ${NO_LIMIT}, lease_epoch = 1
    where id = $1 and state = 'active' returning *
  ),
  items as (
    update trade_item set live = false, received_asset_id = '7' || asset_id where trade_id = $1 returning asset_id
  ),
  custody as (
    insert into custody_entry (trade_id, asset_id, received_asset_id, bot_id, moved)
    select trade.id, item.asset_id, '7' || item.asset_id, trade.bot_id, 'in'
    from trade join trade_item item on item.trade_id = trade.id
  ),
  deposit as (
    update deposit set status = 'succeeded', credited_amount = trade.total from trade
    where deposit.id = trade.deposit_id returning deposit.id, deposit.store_id
  ),
  event as (
    insert into event (id, store_id, deposit_id, type, payload)
    select $4, store_id, id, 'deposit.succeeded', $5::jsonb from deposit
  ),
  job as (
    insert into pgboss.job (name, data, singleton_key, policy, start_after)
    select name, jsonb_build_object('tradeId', $1::text), key, 'short', now() + wait
    from (select 'bot.' || bot_id as name, 'trade ' || id as key, interval '8 days' as wait from trade
      union all select 'events.publish', $4::text, interval '0') jobs
    where exists (select from pgboss.queue where queue.name = jobs.name)
  ),
  room as (
    insert into credit_at_risk as taken (store_id, usd_cents) select deposit.store_id, trade.total from deposit, trade
    on conflict (store_id) do update set usd_cents = taken.usd_cents + excluded.usd_cents returning store_id
  ),
  entries as (
    insert into ledger_entry (debit_account, credit_account, amount, currency, cause, trade_id, quote_id, rate_id)
    select items.id, credited.id, moved.amount, 'USD', moved.cause, trade.id, trade.quote_id, quote.rate_id
    from trade join quote on quote.id = trade.quote_id, room,
      lateral (values ('available', trade.total, 'delivered'),
        ('commission', trade.gross_total - trade.total, 'commission')) moved (kind, amount, cause)
      join account credited on credited.kind = moved.kind and credited.currency = 'USD'
      join account items on items.kind = 'items' and items.currency = 'USD'
    where credited.store_id is null or credited.store_id = room.store_id
    returning debit_account, credit_account, amount
  ),
  changed as (
    select id, sum(by) as by from (
      select debit_account as id, -amount as by from entries union all select credit_account, amount from entries) moved
    group by id
  )
  update account set balance = balance + changed.by
  from changed join (select id from account where id in (select id from changed) order by id for no key update) locked
    using (id)
  where account.id = changed.id`

const PAYLOAD = JSON.stringify({ type: 'deposit.succeeded', data: { note: 'x'.repeat(1_000) } })

const creditWithBareStatement =
  (pool: pg.Pool): Credit =>
  async (_db, { tradeId, offerId, steamTrade }) => {
    const values = [tradeId, offerId, steamTrade.tradeId, randomUUID(), PAYLOAD]
    const { rowCount } = await pool.query(BARE, values)
    if (rowCount !== BALANCES) throw new Error(`the bare statement changed ${rowCount} balances`)
  }

/** The number of balances that a credit changes: items, commission, and the store's available money. */
const BALANCES = 3

const creditWithTill =
  ({ deps }: CutTill): Credit =>
  (db, delivery) =>
    deliver({ ...deps, trades: createTradeStore({ ...deps, db }) }, delivery)

/**
 * Locks the store's balance before it credits. A ledger that reads a balance, adds to it and writes it back must do so.
 */
const creditLockingFirst =
  ({ deps }: CutTill): Credit =>
  (db, delivery) => {
    const transaction: TradeStore['transaction'] = (work) =>
      inTransaction(db, async (tx, tries) => {
        await sql`select from account where store_id = ${delivery.storeId} and kind = 'available' for update`.execute(
          tx,
        )
        return work(openTradeTx(deps, tx, tries))
      })
    return deliver({ ...deps, trades: { ...createTradeStore({ ...deps, db }), transaction } }, delivery)
  }

async function deliver(deps: CutTill['deps'], { tradeId, offerId, steamTrade }: Delivery): Promise<void> {
  const fact = { kind: 'steam_trade_read', offerId, steamTrade } as const
  await record(deps, { tradeId, writer: { leaseEpoch: 1n } }, fact)
}

type Round = { db: Db; storeId: Delivery['storeId']; credit: Credit }

/** Prepares deliveries of the store, then lets all clients credit them. Resolves to credits per second. */
async function perSecond(till: CutTill, { db, storeId, credit }: Round): Promise<number> {
  const waiting: Delivery[] = []
  const make = async () => {
    while (waiting.length < CREDITS) waiting.push(await till.makeDelivery({ storeId }))
  }
  await Promise.all(Array.from({ length: MADE_AT_ONCE }, make))
  const count = waiting.length
  const client = async () => {
    for (let delivery = waiting.pop(); delivery !== undefined; delivery = waiting.pop())
      await credit(db, delivery)
  }
  const beganMs = performance.now()
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return (count / (performance.now() - beganMs)) * 1_000
}
