import { type Selectable, sql } from 'kysely'
import type { Game } from '../../contract/games.ts'
import type { Language } from '../../contract/languages.ts'
import type { Db, Tx } from '../db/client.ts'
import type { InventoryRequestTable } from '../db/schema.ts'
import { deleteBefore, keepPlace, placeOf } from '../db/sweep-store.ts'
import type { SecretBox } from '../kit/secret-box.ts'
import { linkHmacs, TOKEN_PLACE } from '../shoppers/trade-token.ts'
import type { StoredAnswer } from './answer.ts'

type InventoryTarget = { steamId: string; token: string; game: Game; language: Language }

/**
 * Identifies the requested inventory. Keys with the same account, token (`tokenHmacs`), game and language share one
 * request; `tokenSealed` is not compared.
 */
export type InventoryKey = InventoryTarget & { tokenSealed: Buffer; tokenHmacs: [Buffer, ...Buffer[]] }

export const inventoryKeyOf = (box: SecretBox, target: InventoryTarget): InventoryKey => ({
  ...target,
  tokenSealed: box.seal(target.token, TOKEN_PLACE.inventoryRequest(target.steamId)),
  tokenHmacs: linkHmacs(box, target),
})

type Row = Selectable<InventoryRequestTable>

/** `answer`: null if there is none yet, or if it is long. A long answer has items, and `readAnswer` reads it. */
export type RequestRow = Pick<Row, 'id' | 'bot_id' | 'state' | 'answer' | 'created_at' | 'done_at'> & {
  isLong: boolean
}

/** An answer without items is short. Checking the length first avoids parsing long answers. */
const isShortAnswer = sql<boolean>`pg_column_size(answer) < 1000`

/** Whether the bot's answer is a failure for this reason; null if it has not answered. */
const failedFor = (reason: 'not_our_turn' | 'invalid_token') =>
  sql<boolean>`(${isShortAnswer} and answer->>'reason' = ${reason})`

const COLUMNS = [
  'id',
  'bot_id',
  'state',
  'created_at',
  'done_at',
  sql<Row['answer']>`case when ${isShortAnswer} then answer end`.as('answer'),
  sql<boolean>`${isShortAnswer} is false`.as('isLong'),
] as const

/**
 * An answer from before the shopper's last delivery would still contain the delivered items. An answer from before
 * Steam found that a trade's items were gone or invalid would still contain those items; `mayContainGone` allows that.
 */
const isStillTrue = (mayContainGone = false) => sql<boolean>`not exists (
  select from trade where trade.partner_steam_id = inventory_request.steam_id
    and (trade.delivered_at >= inventory_request.created_at
      or (not ${mayContainGone}::boolean and trade.ended_at >= inventory_request.created_at
        and (trade.refusal = 'items_gone' or trade.reason = 'invalid_items'))))`

/**
 * The time within which a row counts. Rows after it come from a clock that was ahead, and would otherwise count for
 * hours.
 */
export type Span = { since: Date; until: Date }

/** From `ms` before `now` to `ms` after it, because the clocks of two gateways differ. */
export const spanOf = (now: Date, ms: number): Span => ({
  since: new Date(now.getTime() - ms),
  until: new Date(now.getTime() + ms),
})

/** Locks the key, so one transaction at a time finds or opens a request. */
export async function lockKey(tx: Tx, { steamId, tokenHmacs, game, language }: InventoryKey): Promise<void> {
  const key = `inventory ${steamId} ${tokenHmacs[0].toString('hex')} ${game} ${language}`
  await sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`.execute(tx)
}

/**
 * The newest request of the key in the span whose answer can still be true. `mayContainGone`: the answer may contain
 * items of a trade, although Steam has since found that they are gone or invalid.
 */
export function latestRequest(
  tx: Tx,
  key: InventoryKey,
  { span, mayContainGone = false }: { span: Span; mayContainGone?: boolean },
): Promise<RequestRow | undefined> {
  return tx
    .selectFrom('inventory_request')
    .select(COLUMNS)
    .where('steam_id', '=', key.steamId)
    .where('token_hmac', 'in', key.tokenHmacs)
    .where('game', '=', key.game)
    .where('language', '=', key.language)
    .where('created_at', '>', span.since)
    .where('created_at', '<', span.until)
    .where(isStillTrue(mayContainGone))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** The newest request in the span that Steam refused because of this token, for any game. */
export function latestTokenRefusal(
  tx: Tx,
  { steamId, tokenHmacs }: InventoryKey,
  { since, until }: Span,
): Promise<RequestRow | undefined> {
  return tx
    .selectFrom('inventory_request')
    .select(COLUMNS)
    .where('steam_id', '=', steamId)
    .where('token_hmac', 'in', tokenHmacs)
    .where('created_at', '>', since)
    .where('created_at', '<', until)
    .where(failedFor('invalid_token'))
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** The requests in the span, oldest first, except those answered `not_our_turn`, which did not reach Steam. */
const readsIn = (tx: Tx, { since, until }: Span) =>
  tx
    .selectFrom('inventory_request')
    .select(['created_at as at', 'game'])
    .where('created_at', '>', since)
    .where('created_at', '<', until)
    .where(sql<boolean>`${failedFor('not_our_turn')} is not true`)
    .orderBy('created_at')

type Read = { at: Date; game: Game }

export const readsOfDeposit = (tx: Tx, depositId: bigint, span: Span): Promise<Read[]> =>
  readsIn(tx, span).where('deposit_id', '=', depositId).execute()

/**
 * The reads that count against this account and token. Requests with other tokens count only once Steam has answered
 * them, and has not refused the token: anybody can invent a token for an account that is not theirs.
 */
export const readsOfAccount = (
  tx: Tx,
  { steamId, tokenHmacs }: Pick<InventoryKey, 'steamId' | 'tokenHmacs'>,
  span: Span,
): Promise<Read[]> =>
  readsIn(tx, span)
    .where('steam_id', '=', steamId)
    .where((where) =>
      where.or([
        where('token_hmac', 'in', tokenHmacs),
        sql<boolean>`state = 'done' and ${failedFor('invalid_token')} is not true`,
      ]),
    )
    .execute()

/** Locks the reads of the deposit and of the account, so one transaction at a time opens a request for either. */
export async function lockReadsOf(
  tx: Tx,
  { depositId, steamId }: { depositId: bigint; steamId: string },
): Promise<void> {
  for (const key of [`reads ${depositId}`, `reads of ${steamId}`])
    await sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`.execute(tx)
}

/**
 * The latest answer in the span that has items, for the same account, game and language but another token. Answers
 * that can no longer be true are ignored.
 */
export function answerWithItems(
  db: Db,
  { steamId, tokenHmacs, game, language }: InventoryKey,
  { since, until }: Span,
): Promise<Pick<Row, 'answer' | 'done_at'> | undefined> {
  return db
    .selectFrom('inventory_request')
    .select(['answer', 'done_at'])
    .where('steam_id', '=', steamId)
    .where('game', '=', game)
    .where('language', '=', language)
    .where('token_hmac', 'not in', tokenHmacs)
    .where('done_at', '>', since)
    .where('done_at', '<', until)
    .where(sql<boolean>`answer->>'kind' = 'items'`)
    .where(isStillTrue())
    .orderBy('done_at', 'desc')
    .limit(1)
    .executeTakeFirst()
}

export async function openRequest(
  tx: Tx,
  key: InventoryKey,
  { botId, depositId, reload, at }: { botId: bigint; depositId: bigint; reload: boolean; at: Date },
): Promise<RequestRow> {
  const { steamId, tokenSealed, tokenHmacs, game, language } = key
  return tx
    .insertInto('inventory_request')
    .values({
      bot_id: botId,
      deposit_id: depositId,
      steam_id: steamId,
      token_sealed: tokenSealed,
      token_hmac: tokenHmacs[0],
      game,
      language,
      is_reload: reload,
      created_at: at,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

export function findRequest(db: Db | Tx, id: bigint): Promise<RequestRow | undefined> {
  return db.selectFrom('inventory_request').select(COLUMNS).where('id', '=', id).executeTakeFirst()
}

/** Reads the answer of a request that is done, however long. */
export async function readAnswer(db: Db, id: bigint): Promise<Row['answer']> {
  const row = await db
    .selectFrom('inventory_request')
    .select('answer')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return row.answer
}

/** Takes a request of the bot; undefined if it is no longer open, or was created at `since` or before. */
export async function takeRequest(
  { db, box }: { db: Db; box: SecretBox },
  { id, botId, since }: { id: bigint; botId: bigint; since: Date },
): Promise<(InventoryKey & { isReload: boolean }) | undefined> {
  const row = await db
    .updateTable('inventory_request')
    .set({ state: 'taken' })
    .where('id', '=', id)
    .where('bot_id', '=', botId)
    .where('state', '=', 'open')
    .where('created_at', '>', since)
    .returning(['steam_id as steamId', 'token_sealed', 'game', 'language', 'is_reload as isReload'])
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { steamId, token_sealed: sealed, game, language, isReload } = row
  const token = box.open(sealed, TOKEN_PLACE.inventoryRequest(steamId))
  return { ...inventoryKeyOf(box, { steamId, token, game, language }), isReload }
}

/**
 * Takes an open request back from its bot, and completes it with this answer. Resolves to false if the bot has taken it
 * up, or it is already complete.
 */
export async function withdrawRequest(
  tx: Tx,
  { id, answer, at }: { id: bigint; answer: StoredAnswer; at: Date },
): Promise<boolean> {
  const row = await tx
    .updateTable('inventory_request')
    .set({ state: 'done', answer: JSON.stringify(answer), done_at: at })
    .where('id', '=', id)
    .where('state', '=', 'open')
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

export async function completeRequest(
  tx: Tx,
  { id, answer, at }: { id: bigint; answer: StoredAnswer; at: Date },
): Promise<void> {
  await tx
    .updateTable('inventory_request')
    .set({ state: 'done', answer: wellFormedJson(answer), done_at: at })
    .where('id', '=', id)
    .execute()
}

/** Repairs names that were cut inside a character: jsonb would refuse the entire inventory because of one such name. */
function wellFormedJson(answer: StoredAnswer): string {
  return JSON.stringify(answer, (_key, value: unknown) =>
    typeof value === 'string' ? value.toWellFormed() : value,
  )
}

/** Returns which of these assets are in a trade that is open, or that can still deliver its items. */
export async function assetsInTrades(
  db: Db | Tx,
  appId: number,
  assetIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ assetId: string }>`
    select asset_id as "assetId" from trade_item
    where live and app_id = ${appId} and asset_id = any(${[...assetIds]})`.execute(db)
  return new Set(rows.map(({ assetId }) => assetId))
}

/** Inventories can have thousands of items, so few requests are deleted at a time. */
const REQUESTS_AT_A_TIME = 100

export const forgetRequests = (db: Db, before: Date): Promise<void> =>
  deleteBefore(db, { table: 'inventory_request', column: 'created_at', atATime: REQUESTS_AT_A_TIME }, before)

const ITEMS_SWEEP = 'inventory items'

/** Replaces the items of an old read. An empty list would look like an inventory without items. */
const NO_LONGER_KEPT: StoredAnswer = {
  kind: 'unavailable',
  reason: 'steam_error',
  detail: 'the items of this read are no longer kept',
}

/**
 * Removes the items from old requests, and keeps the rows. Continues where the last sweep ended. Resolves to the number
 * of requests examined. A large inventory takes hundreds of kilobytes, and its shopper can have it read every few
 * seconds. The sweep's place is a time, so requests of the same time are examined together.
 */
export async function dropItems(db: Db, before: Date, most: number): Promise<number> {
  const after = await placeOf(db, ITEMS_SWEEP, before)
  const { rows } = await sql<{ id: bigint; createdAt: Date; hasItems: boolean }>`
    select id, created_at as "createdAt", coalesce(${isShortAnswer} is false or answer->>'kind' = 'items', false)
      as "hasItems" from inventory_request
    where created_at > ${after} and created_at < ${before}
    order by created_at fetch first ${most} rows with ties`.execute(db)
  const last = rows.at(-1)
  if (last === undefined) return 0
  const withItems = rows.flatMap(({ id, hasItems }) => (hasItems ? [String(id)] : []))
  await sql`
    update inventory_request set answer = ${JSON.stringify(NO_LONGER_KEPT)}
    where id = any(${withItems}::bigint[])`.execute(db)
  await keepPlace(db, ITEMS_SWEEP, { upTo: last.createdAt, before })
  return rows.length
}
