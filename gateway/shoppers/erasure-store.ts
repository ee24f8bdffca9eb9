import { type RawBuilder, sql } from 'kysely'
import { NOBODY } from '../../contract/steam-id.ts'
import type { Tx } from '../db/client.ts'
import { isOnReleaseSql } from './on-release-store.ts'
import { isUnfinishedSql } from './unfinished-store.ts'

export type Erased = {
  /** Deposits and trades that no longer contain the account. */
  deposits: number
  trades: number
  /**
   * Reads of the account's inventory, and quotes of its items, that were deleted, even from deposits that were linked to
   * another account since.
   */
  reads: number
  /**
   * Deposits that cannot be erased yet: open ones, and those with a trade that is open, protected, held by Steam or at
   * risk, or about which a bot must ask Steam again.
   */
  keptDeposits: number
  /** Events of the erased deposits. Stores may have them already, so they stay unchanged. */
  keptEvents: number
  /**
   * Trades in which a bot gave items to the account, and wishes that the vault took up for it. They say where items
   * are.
   */
  keptDepartures: number
  keptWishes: number
  /** Records of acts that name the account, such as `shopper deny`, also in their reasons. */
  keptActs: number
  isDenied: boolean
  /** Whether the account is credited on release because it reversed a trade. The till must remember this. */
  isOnRelease: boolean
}

/**
 * Locks the account's deposits. `isErasable`: false for the deposits that `keptDeposits` counts. Call this before any
 * write.
 */
async function lockDeposits(
  tx: Tx,
  steamId: string,
  now: Date,
): Promise<{ id: bigint; isErasable: boolean }[]> {
  const { rows } = await sql<{ id: bigint; isErasable: boolean }>`
    select deposit.id, status not in ('created', 'pending') and not exists (
      select from trade where trade.deposit_id = deposit.id and (
        ${isUnfinishedSql(now)} or (at_risk_amount > 0 and (at_risk_until is null or at_risk_until >= ${now})))
    ) as "isErasable"
    from deposit
    where user_steam_id = ${steamId} or shopper_steam_id = ${steamId}
      or id in (select deposit_id from trade where partner_steam_id = ${steamId})
    order by id for update`.execute(tx)
  return rows
}

/**
 * Erases the account from deposits that can be erased, their trades and quotes. Deletes their unused quotes, the answers
 * kept under an Idempotency-Key that are about these deposits, and the doubts about bots that arose from offers to the
 * account. Also deletes all inventory requests and unused quotes of the account, except those that a page of a kept
 * deposit may use. Money, items and events stay unchanged.
 */
export async function eraseAccount(tx: Tx, steamId: string, now: Date): Promise<Erased> {
  const deposits = await lockDeposits(tx, steamId, now)
  const idsWhere = (isErasable: boolean) =>
    deposits.filter((deposit) => deposit.isErasable === isErasable).map(({ id }) => String(id))
  const erasable = idsWhere(true)
  const kept = idsWhere(false)
  const inErasableDeposits = sql`deposit_id = any(${erasable}::bigint[])`
  // A deposit can contain two accounts: one that was refused or that the store expected, and another that paid.
  await sql`
    update deposit set customer_label = null
    where id = any(${erasable}::bigint[]) and coalesce(shopper_steam_id, user_steam_id) = ${steamId}`.execute(
    tx,
  )
  await sql`
    update deposit set user_steam_id = null, user_token = null, user_token_sealed = null, user_name = null,
      user_avatar_url = null, user_profile_url = null
    where id = any(${erasable}::bigint[]) and user_steam_id = ${steamId}`.execute(tx)
  await sql`
    update deposit set shopper_steam_id = null, shopper_locked = false
    where id = any(${erasable}::bigint[]) and shopper_steam_id = ${steamId}`.execute(tx)
  const { numAffectedRows: trades = 0n } = await sql`
    update trade set partner_steam_id = ${NOBODY} where ${inErasableDeposits} and partner_steam_id = ${steamId}`.execute(
    tx,
  )
  // Erase the tokens of all trades of these deposits, those of other accounts too. The sweep of old tokens finds a
  // trade only by its deposit's token, which may just have been erased.
  await sql`
    update trade set partner_token = null, partner_token_sealed = null
    where ${inErasableDeposits} and (partner_token is not null or partner_token_sealed is not null)`.execute(
    tx,
  )
  // The answers may name the account. A call that is repeated is then carried out again, and finds its deposit.
  await sql`delete from idempotency_key where ${inErasableDeposits}`.execute(tx)
  const reads = await deleteReads(tx, steamId, kept)
  await sql`delete from quote where ${inErasableDeposits} and ${isUnusedQuote}`.execute(tx)
  await sql`update quote set steam_id = null where ${inErasableDeposits} and steam_id = ${steamId}`.execute(
    tx,
  )
  await sql`delete from bot_doubt where partner_steam_id = ${steamId}`.execute(tx)
  return {
    deposits: erasable.length,
    trades: Number(trades),
    reads,
    keptDeposits: kept.length,
    ...(await readKept(tx, steamId, inErasableDeposits)),
  }
}

const isUnusedQuote = sql<boolean>`not exists (select from trade where trade.quote_id = quote.id)
  and not exists (select from ledger_entry where ledger_entry.quote_id = quote.id)`

/**
 * Deletes the account's inventory requests and unused quotes, wherever they are: a deposit that was linked to another
 * account since no longer names this one. Spares what a page of a kept deposit may use. Resolves to their number.
 */
async function deleteReads(tx: Tx, steamId: string, kept: readonly string[]): Promise<number> {
  const inKeptDeposits = sql`deposit_id = any(${kept}::bigint[])`
  // An unanswered request stays only if it belongs to a kept deposit, whose page may be waiting for it.
  const { numAffectedRows: requests = 0n } = await sql`
    delete from inventory_request
    where steam_id = ${steamId} and (state = 'done' or ${inKeptDeposits} is not true)`.execute(tx)
  const { numAffectedRows: quotes = 0n } = await sql`
    delete from quote where steam_id = ${steamId} and not ${inKeptDeposits} and ${isUnusedQuote}`.execute(tx)
  return Number(requests + quotes)
}

type Kept = Omit<Erased, 'deposits' | 'trades' | 'reads' | 'keptDeposits'>

/** Reads what still names the account after its erasure. */
async function readKept(tx: Tx, steamId: string, inErasableDeposits: RawBuilder<unknown>): Promise<Kept> {
  const { rows } = await sql<Kept>`
    select (select count(*)::int from event where ${inErasableDeposits}) as "keptEvents",
      (select count(*)::int from departure where partner_steam_id = ${steamId}) as "keptDepartures",
      (select count(*)::int from vault_deed where partner_steam_id = ${steamId}) as "keptWishes",
      (select count(*)::int from operator_act
        where strpos(concat_ws(' ', arguments, reason), ${steamId}) > 0) as "keptActs",
      exists (select from denied_shopper where steam_id = ${steamId}) as "isDenied",
      ${isOnReleaseSql(sql`${steamId}`)} as "isOnRelease"`.execute(tx)
  const [kept] = rows
  if (kept === undefined) throw new Error('the database returned no row')
  return kept
}
