/** Credits a second on one hot store, beside the same transaction that locks its balance row first. */
import { sql } from 'kysely'
import { type Db, openDatabase } from '../gateway/db/client.ts'
import { createTradeStore, openTradeTx } from '../gateway/trades/postgres-store.ts'
import { record } from '../gateway/trades/record.ts'
import type { TradeStore } from '../gateway/trades/trade-store.ts'
import { type CutTill, type Delivery, openCutTill } from '../proofs/cut/till.ts'
import { withDatabase } from './database.ts'
import { middle, type Outcome } from './outcome.ts'

const LIMIT = 1.4
const CLIENTS = 32
const ROUNDS = 5
const CREDITS = 128
const MADE_AT_ONCE = 8

type Credit = (db: Db, delivery: Delivery) => Promise<void>

export function benchLedger(): Promise<Outcome> {
  return withDatabase({ fsync: true }, async (serverUrl) => {
    const till = await openCutTill(serverUrl)
    const { db, close } = openDatabase(till.url, CLIENTS)
    try {
      const store = await till.accepted()
      const ours: number[] = []
      const locked: number[] = []
      await perSecond(till, { db, store, credit: credit(till) })
      for (let round = 0; round < ROUNDS; round += 1) {
        ours.push(await perSecond(till, { db, store, credit: credit(till) }))
        locked.push(await perSecond(till, { db, store, credit: lockFirst(till) }))
      }
      return judge(middle(ours), middle(locked))
    } finally {
      await close()
      await till.close()
    }
  })
}

function judge(ours: number, locked: number): Outcome {
  const ratio = ours / locked
  return {
    name: 'ledger',
    ours: `${Math.round(ours)}/s`,
    floor: `${Math.round(locked)}/s`,
    ratio,
    limit: `>=${LIMIT}`,
    passed: ratio >= LIMIT,
  }
}

const credit =
  ({ deps }: CutTill): Credit =>
  (db, delivery) =>
    deliver({ ...deps, trades: createTradeStore({ ...deps, db }) }, delivery)

/** What a ledger does that reads a balance, adds to it and writes it back. */
const lockFirst =
  ({ deps }: CutTill): Credit =>
  (db, delivery) => {
    const transaction: TradeStore['transaction'] = (work) =>
      db.transaction().execute(async (tx) => {
        await sql`select from account where store_id = ${delivery.storeId} and kind = 'available' for update`.execute(
          tx,
        )
        return work(openTradeTx(deps, tx))
      })
    return deliver({ ...deps, trades: { ...createTradeStore({ ...deps, db }), transaction } }, delivery)
  }

/** Without protection, so nothing but the balances is shared. */
async function deliver(deps: CutTill['deps'], { tradeId, offerId, exchange }: Delivery): Promise<void> {
  const fact = { kind: 'exchange_read', offerId, exchange } as const
  await record({ ...deps, protectionDays: () => 0 }, { tradeId, writer: { epoch: 1n } }, fact)
}

type Round = { db: Db; store: Delivery; credit: Credit }

/** Prepares so many deliveries of the store, then has all clients credit them. */
async function perSecond(till: CutTill, { db, store, credit }: Round): Promise<number> {
  const waiting: Delivery[] = []
  const make = async () => {
    while (waiting.length < CREDITS) waiting.push(await till.accepted({ storeId: store.storeId }))
  }
  await Promise.all(Array.from({ length: MADE_AT_ONCE }, make))
  const count = waiting.length
  const client = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await credit(db, next)
  }
  const begin = performance.now()
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return (count / (performance.now() - begin)) * 1_000
}
