/** Books what the vault logged about its sales and gifts, in the order of the log. */
import { z } from 'zod'
import type { SaleReport } from '../../contract/sale-report.ts'
import type { Db, Tx } from '../db/client.ts'
import type { EntryAnswer } from '../db/sale-tables.ts'
import { inTransaction } from '../db/transaction.ts'
import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import { recordListing, recordReport } from './sales.ts'
import {
  answerEntry,
  type EntryRow,
  explainByVault,
  lifeBeganAt,
  lockEntry,
  unansweredEntries,
} from './vault-report-store.ts'
import { createWaits, keyOf, type ReportedListing, type Waits } from './vault-report-waits.ts'

/** The vault keeps its accounts at markets in dollars. */
const CURRENCY = 'USD'
const PAGE_SIZE = 500
/** One call reads at most this many pages of entries. */
const MOST_PAGES = 40
/**
 * How long to wait for an item's departure, which proves that the item is ours, and for the end of its protection.
 * Steam's history may show them late. A restored till must read again what its database has lost, so its wait begins
 * with its epoch.
 */
const WAIT_MS = 2 * 86_400_000

const minorAmount = z
  .string()
  .regex(/^\d{1,18}$/)
  .transform(BigInt)
const reportSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('repriced'), price: minorAmount }),
  z.object({ kind: z.literal('unlisted') }),
  z.object({ kind: z.literal('sold') }),
  z.object({ kind: z.literal('refused') }),
  z.object({ kind: z.literal('delivered'), steamTradeId: z.string().regex(/^\d{1,20}$/) }),
  z.object({
    kind: z.literal('settling'),
    received: minorAmount,
    settlesAt: z.iso.datetime().transform((text) => new Date(text)),
  }),
  z.object({ kind: z.literal('paid'), received: minorAmount }),
  z.object({ kind: z.literal('cancelled') }),
  z.object({
    kind: z.literal('reversed'),
    causer: z.enum(['buyer', 'seller', 'unknown']),
    refund: minorAmount,
  }),
]) satisfies z.ZodType<SaleReport>
const entrySchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('listing'),
    appId: z.int32().positive(),
    listedAssetId: z.string().regex(/^\d{1,20}$/),
    price: minorAmount.refine((price) => price > 0n),
  }),
  z.object({ kind: z.literal('report'), report: reportSchema }),
  /** Explains a departure of exactly these items to this account. */
  z.object({
    kind: z.literal('gift'),
    partnerSteamId: z.string().regex(/^\d{17}$/),
    assets: z.array(z.string().regex(/^\d{1,9}\/\d{1,20}$/)).max(100),
  }),
])

type BookingDeps = { db: Db; clock: Clock; log: Log }

/**
 * Called every ten seconds, even by several processes at once: each entry is answered only once. `waits`: the listings
 * that wait for their item, as the earlier calls left them.
 */
export async function bookVaultLog(deps: BookingDeps, waits: Waits = createWaits()): Promise<void> {
  const { db, clock } = deps
  const now = clock.now()
  const nowMs = now.getTime()
  const beganAtMs = (await lifeBeganAt(db, now)).getTime()
  // A listing that waits when this call starts waits until the call ends, however long that takes. Otherwise the wait
  // could end between the listing's entry and a report on it, which would then be answered as unknown.
  const waiting = new Map(waits.listingsAt(nowMs).map((listing) => [keyOf(listing), listing]))
  let after: Pick<EntryRow, 'n' | 'part'> | undefined
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const without = [...waiting.values()]
    const rows = await unansweredEntries(db, { limit: PAGE_SIZE, after, without })
    for (const row of rows) await bookRow(deps, row, { waits, waiting, nowMs, beganAtMs })
    after = rows.at(-1)
    if (rows.length < PAGE_SIZE) return
  }
}

/**
 * `waiting`: the listings that wait in this call. `waits` remembers a limited number. `beganAtMs`: when the database's
 * present life began.
 */
type Call = { waits: Waits; waiting: Map<string, ReportedListing>; nowMs: number; beganAtMs: number }

async function bookRow({ db, log }: BookingDeps, row: EntryRow, call: Call): Promise<void> {
  const { waits, waiting, nowMs, beganAtMs } = call
  // If a listing waits for its item, the reports on it wait too.
  if (waiting.has(keyOf(row))) return
  const mayWait = nowMs - Math.max(row.at.getTime(), beganAtMs) < WAIT_MS
  const answer = await inTransaction(db, (tx) => bookEntry(tx, row, mayWait))
  if (answer === 'waits') {
    waiting.set(keyOf(row), row)
    return waits.note(row, nowMs)
  }
  waits.forget(row)
  if (isAlarm(answer)) {
    const { market, reference, n } = row
    log.error({ market, reference, entry: String(n), answer }, 'a report from the vault could not be booked')
  }
}

/**
 * `waits`: the item's departure, or the end of its protection, may still appear, or another process answers the entry.
 * `known`: the listing was already recorded.
 */
async function bookEntry(tx: Tx, row: EntryRow, mayWait: boolean): Promise<EntryAnswer | 'waits'> {
  if (!(await lockEntry(tx, row))) return 'waits'
  const answer = await answerOf(tx, row)
  if ((answer === 'not_ours' || answer === 'not_free') && mayWait) return 'waits'
  await answerEntry(tx, row, answer)
  return answer
}

async function answerOf(tx: Tx, { market, reference, at, told }: EntryRow): Promise<EntryAnswer> {
  const entry = entrySchema.safeParse(told).data
  if (entry === undefined) return 'unreadable'
  if (entry.kind === 'gift') return 'recorded'
  if (entry.kind === 'report') {
    const { report } = entry
    if (report.kind === 'delivered') await explainByVault(tx, report.steamTradeId)
    return recordReport(tx, { market, reference, report }, at)
  }
  const { appId, listedAssetId, price } = entry
  const listing = { market, reference, appId, listedAssetId, price, currency: CURRENCY } as const
  return recordListing(tx, listing, at)
}

const isAlarm = (answer: EntryAnswer): boolean =>
  ['not_ours', 'not_free', 'taken', 'unknown', 'unreadable'].includes(answer)
