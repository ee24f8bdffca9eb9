/** Leases: which process holds a bot, and what the holder writes about the bot. */
import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../db/client.ts'
import { isFar, notAfter } from '../db/far-time.ts'
import { HOUR_MS } from '../kit/duration.ts'
import type { FailedForMs } from './health.ts'
import { LEASABLE_STATES } from './store.ts'

/** Leases use the database's clock: the clocks of two machines can differ, and the till's clock can jump. */
const LEASE_SECONDS = 25

export const LEASE_MS = LEASE_SECONDS * 1000

/** False after a restore until the next epoch begins, and while the bots are disarmed. Evaluated once per statement. */
const maySpeak = sql<SqlBool>`(select bots_may_speak())`

const leaseEnd = sql<Date>`now() + make_interval(secs => ${LEASE_SECONDS})`

/** A bot that this process holds until the lease runs out. */
export type Lease = {
  botId: bigint
  steamId: string
  name: string
  /** The process that holds the lease: a UUID, new at every start. */
  owner: string
  /** The number of the lease. */
  leaseEpoch: bigint
  /** As of the last login. An operator can renew the bot's token at any time. */
  sealedToken: Buffer
  /** True if Steam's notice about trade protection is acknowledged. */
  acknowledged: boolean
  /** When Steam first refused its token; null if it never did, or the bot has logged in since. */
  tokenRefusedAt: Date | null
  /** The day on which the account joined Steam, YYYY-MM-DD; null if the till has not read it. */
  memberSince: string | null
  /** The failures that its last holder recorded. */
  failing: FailedForMs
}

/** Takes up to `limit` free bots. A new lease number separates the holder's writes from the previous holder's. */
export async function takeLeases(db: Db, owner: string, limit: number): Promise<Lease[]> {
  const free = db
    .selectFrom('bot')
    .select('id')
    .where('state', 'in', LEASABLE_STATES)
    .where(maySpeak)
    .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<', sql<Date>`now()`)]))
    .where((eb) => eb.or([eb('login_after', 'is', null), eb('login_after', '<=', sql<Date>`till_now()`)]))
    .orderBy('id')
    .limit(limit)
    .forUpdate()
    .skipLocked()
  const rows = await db
    .updateTable('bot')
    .set((eb) => ({
      lease_owner: owner,
      lease_epoch: eb('lease_epoch', '+', 1n),
      lease_until: leaseEnd,
      online: false,
    }))
    .where('id', 'in', free)
    .returning((eb) => [
      'id',
      'steam_id',
      'name',
      'lease_epoch',
      'refresh_token',
      'token_refused_at',
      'member_since',
      sql<boolean>`protection_acknowledged_at is not null`.as('acknowledged'),
      ageMs(eb.ref('offers_failing_since')).as('offers'),
      ageMs(eb.ref('inventories_failing_since')).as('inventories'),
    ])
    .execute()
  return rows.map((row) => ({
    botId: row.id,
    steamId: row.steam_id,
    name: row.name,
    owner,
    leaseEpoch: row.lease_epoch,
    sealedToken: row.refresh_token,
    acknowledged: row.acknowledged,
    tokenRefusedAt: row.token_refused_at,
    memberSince: row.member_since,
    failing: { offers: row.offers, inventories: row.inventories },
  }))
}

/** Renews the lease for 25 s. Resolves to false if the lease was lost, or if the bot must not work now. */
export async function renewLease(db: Db, lease: Lease): Promise<boolean> {
  const rows = await db
    .updateTable('bot')
    .set({ lease_until: leaseEnd })
    .where(isHeld(lease))
    .where('state', 'in', LEASABLE_STATES)
    .where(maySpeak)
    .returning('id')
    .execute()
  return rows.length === 1
}

/** Reads the bot's token as it is stored now. Undefined once the lease is lost. */
export async function readToken(db: Db, lease: Lease): Promise<Buffer | undefined> {
  const row = await db.selectFrom('bot').select('refresh_token').where(isHeld(lease)).executeTakeFirst()
  return row?.refresh_token
}

/** True within a minute of an act that ends all leases on purpose. The bots may be held again by now. */
const wereTakenBack = sql<SqlBool>`exists (
  select from operator_act
  where act in ('bot disarm', 'restore finish') and at > till_now() - interval '1 minute')`

/** True if no act explains why the lease of a bot was lost: the bot is in service, and a process may hold it now. */
export async function isLossUnexplained(db: Db, botId: bigint): Promise<boolean> {
  const row = await db
    .selectFrom('bot')
    .select('id')
    .where('id', '=', botId)
    .where('state', 'in', LEASABLE_STATES)
    .where(maySpeak)
    .where((eb) => eb.not(wereTakenBack))
    .executeTakeFirst()
  return row !== undefined
}

/** Writes whether the session is open: `offlineReason` is null if it is. Has no effect once the lease is lost. */
export async function setSessionState(db: Db, lease: Lease, offlineReason: string | null): Promise<void> {
  await db
    .updateTable('bot')
    .set({ online: offlineReason === null, state_reason: offlineReason })
    .where(isHeld(lease))
    .execute()
}

/** Writes how long each capability has been failing. Has no effect once the lease is lost. */
export async function setHealth(db: Db, lease: Lease, failing: FailedForMs): Promise<void> {
  const sinceSql = (ms: number | null) =>
    ms === null ? null : sql<Date>`till_now() - make_interval(secs => ${ms / 1000})`
  await db
    .updateTable('bot')
    .set({
      offers_failing_since: sinceSql(failing.offers),
      inventories_failing_since: sinceSql(failing.inventories),
    })
    .where(isHeld(lease))
    .execute()
}

/**
 * Records that Steam accepted the token, and when the token expires. Also records the acknowledgement of the notice about
 * trade protection, if there is one. Has no effect once the lease is lost.
 */
export async function noteSession(
  db: Db,
  lease: Lease,
  { expiresAt, acknowledged }: { expiresAt: Date | null; acknowledged: boolean },
): Promise<void> {
  await db
    .updateTable('bot')
    .set({
      token_expires_at: expiresAt,
      token_refused_at: null,
      login_after: null,
      ...(acknowledged
        ? { protection_acknowledged_at: sql<Date>`coalesce(protection_acknowledged_at, till_now())` }
        : {}),
    })
    .where(isHeld(lease))
    // An enrolment may have stored a newer token, which this session does not use.
    .where('refresh_token', '=', lease.sealedToken)
    .execute()
}

/**
 * Writes the bot's joining day and level, which shoppers compare with the bot's page on Steam. Has no effect once the
 * lease is lost.
 */
export async function noteProfile(
  db: Db,
  lease: Lease,
  { memberSince, level }: { memberSince: string; level: number },
): Promise<void> {
  await db
    .updateTable('bot')
    // A level never falls on Steam; a read without one returns 0.
    .set({ member_since: memberSince, level: sql<number>`greatest(level, ${level}::integer)` })
    .where(isHeld(lease))
    .execute()
}

/** Takes the bot out of service until it is enrolled again. */
export async function markDead(db: Db, lease: Lease, reason: string): Promise<void> {
  await db
    .updateTable('bot')
    .set({ state: 'dead', state_reason: reason, online: false, lease_owner: null, lease_until: null })
    .where(isHeld(lease))
    // An enrolment may have stored a new token meanwhile, which may be good.
    .where('refresh_token', '=', lease.sealedToken)
    .execute()
}

type TokenRefusal = { reason: string; refusedAt: Date; until: Date }

/**
 * Takes the bot out of service for every process until the given time, so a restart neither retries sooner nor forgets
 * when Steam first refused the token.
 */
export async function putOffLogin(
  db: Db,
  lease: Lease,
  { reason, refusedAt, until }: TokenRefusal,
): Promise<void> {
  await db
    .updateTable('bot')
    .set({
      token_refused_at: sql<Date>`coalesce(token_refused_at, ${refusedAt})`,
      login_after: until,
      state_reason: `${reason}: the next login is at ${until.toISOString()}`,
      online: false,
      lease_owner: null,
      lease_until: null,
    })
    .where(isHeld(lease))
    // An enrolment may have stored a new token meanwhile, which may be good.
    .where('refresh_token', '=', lease.sealedToken)
    .execute()
}

/**
 * Lets bots log in whose next login a clock that was ahead has put off, and returns their number. `judgeTokenRefusal`
 * puts it off by at most an hour.
 */
export async function allowFarLogins(db: Db, now: Date): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update bot set login_after = null, token_refused_at = ${notAfter('token_refused_at', now)}
    where ${isFar(sql`login_after`, now, HOUR_MS)}`.execute(db)
  return Number(numAffectedRows)
}

/**
 * Shortens leases that end much later than a new one would, because the database's clock was ahead when they began. If
 * they stayed, a killed process would keep its bot until the clock had caught up. A running process renews its lease in
 * time anyway. Returns their number.
 */
export async function shortenFarLeases(db: Db): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('bot')
    .set({ lease_until: leaseEnd })
    .where('lease_until', '>', sql<Date>`now() + make_interval(secs => ${2 * LEASE_SECONDS})`)
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

/** Releases the lease, so another process can take the bot immediately. */
export async function releaseLease(db: Db, lease: Lease): Promise<void> {
  await db
    .updateTable('bot')
    .set({ online: false, lease_owner: null, lease_until: null })
    .where(isHeld(lease))
    .execute()
}

function ageMs(since: Expression<Date | null>): RawBuilder<number | null> {
  return sql<number | null>`(extract(epoch from till_now() - ${since}) * 1000)::float8`
}

function isHeld(lease: Lease): Expression<SqlBool> {
  return sql<SqlBool>`(id = ${lease.botId} and lease_owner = ${lease.owner} and lease_epoch = ${lease.leaseEpoch})`
}
