import { sql } from 'kysely'
import type { Db, Tx } from '../db/client.ts'

export type ListedMarket = {
  market: string
  /** Whether an operator switched it off. The vault may have switched it off too; that is not known here. */
  isOff: boolean
  offSince: Date | null
  /** `listed`: items for sale now. `unpaid`: items sold, whose money is not free yet. */
  listed: number
  unpaid: number
  /** Reports of the vault that are not booked yet. */
  waiting: number
}

/** `kind`: docs/selling.md says what to do for each. `about`: what it concerns, such as a market and a deal. */
export type VaultNeed = { kind: string; about: string; text: string; since: Date }

/**
 * `reason`: docs/selling.md explains each. `appId` and `items` are null for `stopped`, because nothing is listed for
 * the account. `detail`: the name of one of the items, or why nothing is listed. `saidAt`: when the vault last said so.
 */
export type UnlistedItems = {
  market: string
  account: string
  appId: number | null
  reason: string
  items: number | null
  detail: string
  saidAt: Date
}

/** Limits of the lists. A vault reports fewer. */
const MOST_NEEDS = 200
const MOST_UNLISTED = 200

export async function selectUnlisted(db: Db): Promise<UnlistedItems[]> {
  return db
    .selectFrom('vault_unlisted')
    .select(['market', 'account', 'app_id as appId', 'reason', 'items', 'detail', 'said_at as saidAt'])
    .orderBy('market')
    .orderBy('account')
    .orderBy('app_id')
    .orderBy('reason')
    .limit(MOST_UNLISTED)
    .execute()
}

/** Returns what needs a person at the vault, oldest first. */
export async function selectVaultNeeds(db: Db): Promise<VaultNeed[]> {
  return db
    .selectFrom('vault_need')
    .select(['kind', 'about', 'text', 'since'])
    .orderBy('since')
    .orderBy('kind')
    .orderBy('about')
    .limit(MOST_NEEDS)
    .execute()
}

const UNPAID = sql`'sold', 'delivered', 'settling'`

const IN_BOOKS = sql`select market from market_account union select market from market_balance
  union select market from sale where state in ('listed', ${UNPAID})
  union select market from vault_told where answer is null`

/**
 * Returns the markets that are off, ever had money in the books or reported a balance, or have sales under way or
 * unbooked reports, ordered by name.
 */
export async function selectMarkets(db: Db): Promise<ListedMarket[]> {
  const { rows } = await sql<ListedMarket>`
    select market, off.market is not null as "isOff", off.since as "offSince",
      (select count(*) from sale where sale.market = known.market and state = 'listed')::int as listed,
      (select count(*) from sale where sale.market = known.market and state in (${UNPAID}))::int as unpaid,
      (select count(*) from vault_told told where told.market = known.market and answer is null)::int as waiting
    from (select market from market_off union ${IN_BOOKS}) known
    left join market_off off using (market) order by market`.execute(db)
  return rows
}

/** True if the till knows of money, sales under way or unbooked reports of the market. */
export async function isInBooks(tx: Tx, market: string): Promise<boolean> {
  const { rows } = await sql`
    select from (${IN_BOOKS}) known where market = ${market} limit 1`.execute(tx)
  return rows.length > 0
}

/** Returns false if the market was already in this state. */
export async function setMarketOff(tx: Tx, market: string, isOff: boolean): Promise<boolean> {
  if (!isOff) {
    const { numDeletedRows } = await tx
      .deleteFrom('market_off')
      .where('market', '=', market)
      .executeTakeFirst()
    return numDeletedRows > 0n
  }
  const inserted = await tx
    .insertInto('market_off')
    .values({ market })
    .onConflict((conflict) => conflict.column('market').doNothing())
    .returning('market')
    .executeTakeFirst()
  return inserted !== undefined
}
