/** The real gateway as a process that can be killed, with a database, a Steam and a store that outlive it. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { StoreSecrets } from '../../e2e/support/demo-store.ts'
import { eventually, freePorts, GiveUp, type Running, run } from '../../e2e/support/process.ts'
import { tokenPlace } from '../../gateway/bots/service.ts'
import { saveBot } from '../../gateway/bots/store.ts'
import { type Db, openDatabase } from '../../gateway/db/client.ts'
import { migrate } from '../../gateway/db/migrate.ts'
import { systemClock } from '../../gateway/kit/clock.ts'
import { createSecretBox, type SecretBox } from '../../gateway/kit/secret-box.ts'
import { createStore } from '../../gateway/stores/service.ts'
import { type Receiver, startReceiver } from '../../gateway/testing/receiver.ts'
import { type RunningSteam, startSteam } from '../../steam-sandbox/start.ts'

export type ProcessTill = {
  /** Seals secrets with the gateways' master key. */
  box: SecretBox
  /** Address of the first gateway, whether it runs or not. */
  url: string
  urls: readonly string[]
  /** Where each gateway serves its metrics. */
  metricsUrls: readonly string[]
  env: Record<string, string>
  pool: pg.Pool
  steam: RunningSteam
  receiver: Receiver
  secrets: StoreSecrets
  /**
   * Starts the process of gateway number `index`, counted from 0, the first by default. Does not wait until it answers.
   */
  start(index?: number): Running
  close(): Promise<void>
}

export const BOTS = ['Tradetill Bot #1', 'Tradetill Bot #2'] as const

const BOT_PAGES = { avatarUrl: 'http://steam.test/bot.jpg', profileUrl: 'http://steam.test/bot' }

const RISK_LIMIT_USD_CENTS = 10_000n

export type TillOptions = {
  /** Bots in addition to the two of the sandbox. */
  furtherBots?: number
  /** Number of processes on the same database. */
  gateways?: number
  /** Whether Steam limits requests. */
  quotas?: boolean
  /** Gateway settings that replace the usual ones of a proof. */
  settings?: Record<string, string>
  /** The folder of the migrations of the new database; those of this tree by default. */
  migrations?: string
  /** Maps the database's address to the one that the gateways use, such as a proxy's; the same address by default. */
  mapDatabaseUrl?: (databaseUrl: string) => Promise<string>
}

/** Opens a till on a new database of the server at `serverUrl`, with its bots and one store. No gateway runs yet. */
export async function openProcessTill(
  serverUrl: string,
  seed: string,
  options: TillOptions = {},
): Promise<ProcessTill> {
  const { furtherBots = 0, gateways = 1, quotas = false, settings = {}, migrations } = options
  const { mapDatabaseUrl = async (url) => url } = options
  const database = `kill_${randomBytes(6).toString('hex')}`
  await onServer(serverUrl, `create database ${database}`)
  const databaseUrl = new URL(serverUrl)
  databaseUrl.pathname = `/${database}`
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-kill-'))
  const ports = await freePorts(2 * gateways)
  const urls = ports.slice(0, gateways).map((port) => `http://localhost:${port}`)
  const metricsPorts = ports.slice(gateways)
  const [steam, receiver] = await Promise.all([startSteam({ port: 0, seed, quotas }), startReceiver()])
  const bots = [...BOTS, ...Array.from({ length: furtherBots }, () => steam.addBot())]
  const masterKey = randomBytes(32)
  const env = {
    DATABASE_URL: await mapDatabaseUrl(databaseUrl.href),
    TRADETILL_DATA: folder,
    TRADETILL_MASTER_KEY: masterKey.toString('hex'),
    TRADETILL_STEAM_SANDBOX_URL: steam.url,
    // Every shopper of a proof comes from this machine.
    TRADETILL_MAX_CONNECTIONS_PER_ADDRESS: '2000',
    TRADETILL_LOG_LEVEL: 'warn',
    ...settings,
  }
  const pool = new pg.Pool({ connectionString: databaseUrl.href, max: 2 })
  // A proof may end the pool's connections. An idle one then reports an error that nothing awaits.
  pool.on('error', () => {})
  const box = createSecretBox(masterKey)
  const secrets = await enrolAll({ url: databaseUrl.href, box, steam, receiver, bots, migrations })
  return {
    url: urls[0] ?? '',
    urls,
    metricsUrls: metricsPorts.map((port) => `http://127.0.0.1:${port}/metrics`),
    box,
    env,
    pool,
    steam,
    receiver,
    secrets,
    start(index = 0) {
      const ownEnv = {
        TRADETILL_PORT: String(ports[index]),
        TRADETILL_METRICS_PORT: String(metricsPorts[index]),
        TRADETILL_PUBLIC_URL: urls[index] ?? '',
      }
      return run('gateway/main.ts', { ...env, ...ownEnv }, { isTied: true })
    },
    async close() {
      await Promise.all([steam.close(), receiver.close(), pool.end()])
      await onServer(serverUrl, `drop database ${database} with (force)`)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

type Enrolment = {
  url: string
  box: SecretBox
  bots: readonly string[]
  migrations: string | undefined
} & Pick<ProcessTill, 'steam' | 'receiver'>

/** Writes the rows of `store add` and `bot add`, without a process for each. */
async function enrolAll({ url, box, steam, receiver, bots, migrations }: Enrolment): Promise<StoreSecrets> {
  await migrate(migrations === undefined ? { url } : { url, folder: migrations })
  const { db, close } = openDatabase(url, 1)
  try {
    for (const bot of bots) await enrolBot(db, box, steam.as(bot))
    const store = await createStore(
      { db, box, mode: 'sandbox', webhookMode: 'sandbox', clock: systemClock },
      {
        name: 'Ember Forge',
        origins: ['http://localhost'],
        webhookUrl: receiver.url,
        riskLimitUsdCents: RISK_LIMIT_USD_CENTS,
      },
    )
    if (store.kind === 'refused') throw new Error(store.reason)
    return { apiKey: store.apiKey, webhookSecret: store.webhookSecret ?? '' }
  } finally {
    await close()
  }
}

type Account = ReturnType<RunningSteam['as']>

async function enrolBot(db: Db, box: SecretBox, { steamId, refreshToken }: Account): Promise<void> {
  const profile = { steamId, name: 'Tradetill Bot', level: 10, memberSince: null, ...BOT_PAGES }
  const sealed = box.seal(refreshToken(), tokenPlace(steamId))
  // The gateway acknowledges the notice about trade protection once it holds the bot.
  await saveBot(db, profile, { sealed, expiresAt: null, acknowledged: false })
}

/** Does the same as `bot add` for an account that the till already has. */
export async function enrolAgain({ pool, box, steam }: ProcessTill, steamId: string): Promise<void> {
  const { db, close } = openDatabase(String(pool.options.connectionString), 1)
  try {
    await enrolBot(db, box, steam.as(steamId))
  } finally {
    await close()
  }
}

/** Long enough for a busy machine. */
const ANSWER_MS = 180_000
const ONLINE_MS = 180_000
const CALL_MS = 10_000

/** Resolves to the milliseconds until the API answered. */
export async function untilAnswering({ url }: Pick<ProcessTill, 'url'>, gateway: Running): Promise<number> {
  const beganMs = performance.now()
  await eventually(
    'the gateway answers',
    async () => {
      if (gateway.hasEnded()) throw new GiveUp(`it ended:\n${gateway.output()}`)
      return (await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(CALL_MS) })).ok || undefined
    },
    ANSWER_MS,
  )
  return performance.now() - beganMs
}

/**
 * Resolves once every bot is online, and there were at least as many new leases as bots. `leasesBefore`: what
 * `countLeases` returned before.
 */
export async function untilBotsOnline({ pool }: Pick<ProcessTill, 'pool'>, leasesBefore = 0n): Promise<void> {
  const check = async () => {
    const { rows } = await pool.query<{ online: boolean; leases: string; bots: string }>(
      'select bool_and(online) as online, sum(lease_epoch) as leases, count(*) as bots from bot',
    )
    const [row] = rows
    return (row?.online === true && BigInt(row.leases) - BigInt(row.bots) >= leasesBefore) || undefined
  }
  await eventually('the bots are online', check, ONLINE_MS)
}

/** How many times bots have been leased so far. A bot's `lease_epoch` counts its leases. */
export async function countLeases({ pool }: Pick<ProcessTill, 'pool'>): Promise<bigint> {
  const { rows } = await pool.query<{ leases: string }>('select sum(lease_epoch) as leases from bot')
  return BigInt(rows[0]?.leases ?? 0)
}

/**
 * Skips a minute while no gateway runs: the leases, claims and jobs of the dead one expire. This saves the wait, and
 * changes only what a minute would change. A gateway that was killed in its first moments has made no queue yet.
 */
export async function passMinute({ pool }: Pick<ProcessTill, 'pool'>): Promise<void> {
  await pool.query(`
    update bot set lease_until = lease_until - interval '1 minute';
    update gateway_process set beat_at = beat_at - interval '1 minute';
    update trade set send_started_at = send_started_at - interval '1 minute' where state = 'sending';
    update trade set due_at = due_at - interval '1 minute' where due_at is not null;
    update webhook_delivery set due_at = due_at - interval '1 minute' where state = 'due'`)
  const { rows } = await pool.query(`select to_regclass('pgboss.job') is not null as "hasQueue"`)
  if (rows[0]?.hasQueue === true)
    await pool.query(
      `update pgboss.job set started_on = started_on - interval '1 minute' where state = 'active'`,
    )
}

/**
 * Skips an hour, so the next search for reversals in Steam's history is due. Also moves Steam's clock by a second, once
 * the till has followed the last move: the gateway follows, and then runs its sweeps immediately. Otherwise the sweep
 * that begins the search could be a minute away.
 */
export async function passHour({ pool, steam }: Pick<ProcessTill, 'pool' | 'steam'>): Promise<void> {
  await pool.query(
    `update bot_history set turned_at = turned_at - interval '1 hour', complete_at = complete_at - interval '1 hour'`,
  )
  const { rows } = await pool.query<{ ahead: number }>('select ahead_s as ahead from till_clock')
  if ((rows[0]?.ahead ?? 0) >= steam.world().aheadS) steam.advance(1)
}

async function onServer(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  // A lost connection also fails the query, and that error is enough.
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
