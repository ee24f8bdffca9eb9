/** Wishes: requests to the vault to give items away. Only the vault decides about them. */
import { sql } from 'kysely'
import { mayBeDueToItems } from '../../contract/gift-failures.ts'
import type { Db, Tx } from '../db/client.ts'
import type { VaultDeedTable, WishTable } from '../db/vault-tables.ts'
import { CHECKED_DAYS } from './returns-store.ts'

export type WishedAsset = { appId: number; assetId: string }

export type NewWish = {
  botId: bigint
  askedBy: WishTable['asked_by']
  assets: readonly WishedAsset[]
  ask: { kind: 'send'; to: string } | { kind: 'return'; depositId: bigint; steamTradeId: string }
}

/** The inventory context of items that are free to leave a bot. */
const FREE_CONTEXT = '2'

/** False from a restore until the next epoch begins. In that time, the database refuses new wishes. */
export async function mayMakeWishes(db: Db): Promise<boolean> {
  const { rows } = await sql<{ may: boolean }>`select life_is_current() as may`.execute(db)
  return rows[0]?.may === true
}

/** Resolves to the number of the wish. Throws if another open wish has one of the items. */
export async function insertWish(tx: Tx, { botId, askedBy, assets, ask }: NewWish): Promise<bigint> {
  const { id } = await tx
    .insertInto('wish')
    .values({
      kind: ask.kind,
      bot_id: botId,
      asked_by: askedBy,
      destination: ask.kind === 'send' ? ask.to : null,
      deposit_id: ask.kind === 'return' ? ask.depositId : null,
      steam_trade_id: ask.kind === 'return' ? ask.steamTradeId : null,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  const rows = assets.map(({ appId, assetId }) => ({
    wish_id: id,
    app_id: appId,
    context_id: FREE_CONTEXT,
    asset_id: assetId,
  }))
  await tx.insertInto('wish_item').values(rows).execute()
  return id
}

/**
 * Returns the items of open wishes, as `app/asset`. Locks the table, so no other wish for them can be made at the same
 * moment.
 */
export async function lockWishedAssets(tx: Tx): Promise<Set<string>> {
  await sql`lock table wish_item in share row exclusive mode`.execute(tx)
  const { rows } = await sql<{ key: string }>`
    select app_id || '/' || asset_id as key from wish_item where is_open`.execute(tx)
  return new Set(rows.map(({ key }) => key))
}

/** The longest wait until given items are booked as gone: Steam's history may never show the trade. */
const UNBOOKED_DAYS = 1

/**
 * The items that are on sale, or sold and not yet booked as gone. In the books, a bot that sells its own items still
 * has them, but they are not free. The keys are `trade-asset`, where `trade` is our trade that brought the item.
 */
export async function itemsInSales(tx: Tx): Promise<Set<string>> {
  const { rows } = await sql<{ item: string }>`
    select trade_id || '-' || asset_id as item from sale where state in ('listed', 'sold')
    union all
    select trade_id || '-' || asset_id from sale
    where state in ('delivered', 'settling', 'paid', 'late') and sold_at > till_now() - make_interval(days => ${UNBOOKED_DAYS})
      and not exists (select from departure
        where departure.steam_trade_id = sale.steam_trade_id and stage <> 'under_way')`.execute(tx)
  return new Set(rows.map(({ item }) => item))
}

/**
 * The items of Steam trades under way, such as those in escrow, as `app/asset`. The bot no longer has them on Steam.
 * Trades first seen more than `CHECKED_DAYS` ago do not count: nothing checks any longer whether they are under way.
 */
export async function departingAssets(tx: Tx): Promise<Set<string>> {
  const { rows } = await sql<{ key: string }>`
    select app_id || '/' || asset_id as key from departure join departed_item on departure_id = departure.id
    where stage = 'under_way' and seen_at > till_now() - make_interval(days => ${CHECKED_DAYS})`.execute(tx)
  return new Set(rows.map(({ key }) => key))
}

/**
 * Closes the wishes that the vault has finished. A wish that it carried out stays open until the departure is booked,
 * for `UNBOOKED_DAYS` at most.
 */
export async function closeEndedWishes(db: Db | Tx): Promise<void> {
  await sql`
    with closed as (
      update wish set closed_at = till_now() from vault_deed deed
      where deed.wish_id = wish.id and wish.closed_at is null and (deed.state in ('refused', 'ended')
        or (deed.state = 'delivered' and (deed.at < till_now() - make_interval(days => ${UNBOOKED_DAYS}) or exists (
          select from departure where departure.bot_id = wish.bot_id
            and departure.steam_trade_id = deed.steam_trade_id and stage <> 'under_way'))))
      returning wish.id
    )
    update wish_item set is_open = false from closed where wish_id = closed.id and is_open`.execute(db)
}

/** Closes a wish. Resolves to false if it is already closed, or if the vault has taken it up or refused it. */
export async function withdrawWish(tx: Tx, id: bigint): Promise<boolean> {
  // The vault holds the same lock while it takes a wish up. Only a later statement is sure to see what the vault wrote.
  await tx.selectFrom('wish').select('id').where('id', '=', id).forUpdate().execute()
  const { rows } = await sql`
    with closed as (
      update wish set closed_at = till_now() where id = ${id} and closed_at is null
        and not exists (select from vault_deed where wish_id = ${id} and state <> 'waiting') returning id
    )
    update wish_item set is_open = false from closed where wish_id = closed.id returning wish_id`.execute(tx)
  return rows.length > 0
}

export type ListedWish = {
  wishId: bigint
  kind: WishTable['kind']
  bot: string
  botSteamId: string
  destination: string | null
  depositId: bigint | null
  askedBy: WishTable['asked_by']
  createdAt: Date
  isOpen: boolean
  items: { appId: number; assetId: string }[]
  /** The vault's answer; null until the vault has seen the wish. */
  state: VaultDeedTable['state'] | null
  because: string | null
  offerId: string | null
  steamTradeId: string | null
}

export type WishFilter = { open?: boolean | undefined; before?: bigint | undefined; limit: number }

/** Lists wishes, newest first. */
export async function selectWishes(
  db: Db,
  { open = false, before, limit }: WishFilter,
): Promise<ListedWish[]> {
  const { rows } = await sql<ListedWish>`
    select wish.id as "wishId", kind, bot.name as bot, bot.steam_id as "botSteamId", destination,
      deposit_id as "depositId", asked_by as "askedBy", wish.created_at as "createdAt", closed_at is null as "isOpen",
      (select json_agg(json_build_object('appId', app_id, 'assetId', asset_id) order by app_id, asset_id)
        from wish_item where wish_id = wish.id) as items,
      deed.state, because, offer_id as "offerId", deed.steam_trade_id as "steamTradeId"
    from wish join bot on bot.id = wish.bot_id left join vault_deed deed on deed.wish_id = wish.id
    where (not ${open} or closed_at is null) and (${before ?? null}::bigint is null or wish.id < ${before ?? null})
    order by wish.id desc limit ${limit}`.execute(db)
  return rows
}

/**
 * Whether the vault reports a gift of exactly these items to this account. `vault_deed` holds the progress of its gifts
 * for wishes, including gifts that ended without giving anything. `vault_told` holds its reports about sales. `keys`:
 * sorted, as `app/asset`.
 */
export async function isVaultsGift(
  tx: Tx,
  partnerSteamId: string,
  keys: readonly string[],
): Promise<boolean> {
  const { rows } = await sql`
    (select 1 from vault_deed where partner_steam_id = ${partnerSteamId} and assets = ${[...keys]}::text[] limit 1)
    union all
    (select 1 from vault_told where told ->> 'kind' = 'gift' and told ->> 'partnerSteamId' = ${partnerSteamId}
      and told -> 'assets' = ${JSON.stringify(keys)}::jsonb limit 1)`.execute(tx)
  return rows.length > 0
}

/** The operator's rule: send items to `destination`. `keep`: how many free items each bot keeps. */
export type SendRule = { destination: string; keep: number }

export const readSendRule = (db: Db | Tx): Promise<SendRule | undefined> =>
  db.selectFrom('send_rule').select(['destination', 'keep']).executeTakeFirst()

/**
 * The rule's recent failed wishes for an item. `lastAt`: the end of the last one. `otherCauses`: how many failed for a
 * reason that no item can cause. The rest may be the item's fault: `alone` of them were for this item alone, and the
 * smallest was for `smallestWish` items (Infinity if there are none).
 */
export type Failures = { otherCauses: number; alone: number; smallestWish: number; lastAt: Date }

/** A failed wish of the rule counts for `FAILURE_DAYS`, while it is among the `MOST_WISHES` newest wishes. */
const FAILURE_DAYS = 7
const MOST_WISHES = 2_000

type FailureRow = { key: string; because: string | null; size: number; times: number; lastAt: Date }

/**
 * The recent failures of the rule to send an item to this destination, by the item's `app/asset`. `offset 0` forces a
 * lookup for each wish: a join of whole tables would read them all.
 */
export async function recentFailures(tx: Tx, destination: string): Promise<Map<string, Failures>> {
  const { rows } = await sql<FailureRow>`
    select app_id || '/' || asset_id as key, because, size, count(*)::int as times, max(closed_at) as "lastAt"
    from (select * from wish order by id desc limit ${MOST_WISHES}) recent
    join lateral (select because from vault_deed
      where wish_id = recent.id and state in ('ended', 'refused') offset 0) deed on true
    join lateral (select app_id, asset_id, count(*) over ()::int as size
      from wish_item where wish_id = recent.id offset 0) item on true
    where asked_by = 'rule' and destination = ${destination}
      and closed_at > till_now() - make_interval(days => ${FAILURE_DAYS})
    group by 1, 2, 3`.execute(tx)
  const failures = new Map<string, Failures>()
  for (const { key, because, size, times, lastAt } of rows) {
    const known = failures.get(key) ?? {
      otherCauses: 0,
      alone: 0,
      smallestWish: Number.POSITIVE_INFINITY,
      lastAt,
    }
    const mayBeItsFault = mayBeDueToItems(because)
    failures.set(key, {
      otherCauses: known.otherCauses + (mayBeItsFault ? 0 : times),
      alone: known.alone + (mayBeItsFault && size === 1 ? times : 0),
      smallestWish: mayBeItsFault ? Math.min(known.smallestWish, size) : known.smallestWish,
      lastAt: lastAt > known.lastAt ? lastAt : known.lastAt,
    })
  }
  return failures
}

/** Replaces the rule, or removes it if `rule` is undefined. */
export async function setSendRule(tx: Tx, rule: SendRule | undefined): Promise<void> {
  await tx.deleteFrom('send_rule').execute()
  if (rule !== undefined) await tx.insertInto('send_rule').values(rule).execute()
}

/** The last delivered trade of a deposit. Late proof of an earlier delivery can give a deposit two. */
export function tradeOfDeposit(tx: Tx, depositId: bigint) {
  return tx
    .selectFrom('trade')
    .select(['id', 'steam_trade_id as steamTradeId', 'bot_id as botId'])
    .where('deposit_id', '=', depositId)
    .where('steam_trade_id', 'is not', null)
    .where('delivered_at', 'is not', null)
    .orderBy('delivered_at', 'desc')
    .orderBy('id', 'desc')
    .executeTakeFirst()
}
