/** The real gateway as a process that can be killed, with a database, a Steam and a store that live on. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { eventually, freePorts, type Running, run } from '../e2e/process.ts'
import { parseSecrets, type StoreSecrets } from '../e2e/store.ts'
import { type Receiver, startReceiver } from '../gateway/testing/receiver.ts'
import { type RunningSteam, startSteam } from '../steam-sandbox/start.ts'

export type KillTill = {
  /** Address of the gateway, whether it runs or not. */
  url: string
  pool: pg.Pool
  steam: RunningSteam
  receiver: Receiver
  secrets: StoreSecrets
  /** Starts the process; it does not answer yet. */
  start(): Running
  close(): Promise<void>
}

export const BOTS = ['Tradetill Bot #1', 'Tradetill Bot #2'] as const

const RISK_LIMIT_USD = '100'

/** A till on a new database of the server at `serverUrl`, with its bots and one store. The gateway is stopped. */
export async function openKillTill(serverUrl: string, seed: string): Promise<KillTill> {
  const database = `kill_${randomBytes(6).toString('hex')}`
  await onServer(serverUrl, `create database ${database}`)
  const databaseUrl = new URL(serverUrl)
  databaseUrl.pathname = `/${database}`
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-kill-'))
  const [port = 0] = await freePorts(1)
  const url = `http://localhost:${port}`
  const [steam, receiver] = await Promise.all([startSteam({ port: 0, seed, quotas: false }), startReceiver()])
  const env = {
    DATABASE_URL: databaseUrl.href,
    TRADETILL_PORT: String(port),
    TRADETILL_PUBLIC_URL: url,
    TRADETILL_DATA: folder,
    TRADETILL_MASTER_KEY: randomBytes(32).toString('hex'),
    TRADETILL_STEAM_SANDBOX_URL: steam.url,
    TRADETILL_LOG_LEVEL: 'warn',
  }
  const pool = new pg.Pool({ connectionString: databaseUrl.href, max: 2 })
  pool.on('error', () => {})
  const till = {
    url,
    pool,
    steam,
    receiver,
    start: () => run('gateway/main.ts', env),
    async close() {
      await Promise.all([steam.close(), receiver.close(), pool.end()])
      await onServer(serverUrl, `drop database ${database} with (force)`)
      rmSync(folder, { recursive: true, force: true })
    },
  }
  const secrets = await enrol(till, env)
  return { ...till, secrets }
}

type Unenrolled = Omit<KillTill, 'secrets'>

async function enrol(till: Unenrolled, env: Record<string, string>): Promise<StoreSecrets> {
  const gateway = till.start()
  await answering(till, gateway)
  const tokens = BOTS.map((name) => till.steam.as(name).refreshToken())
  await command(env, ['bot', 'add'], `${tokens.join('\n')}\n`)
  const addresses = ['--origin', 'http://localhost', '--webhook-url', till.receiver.url]
  const options = ['--name', 'Ember Forge', '--risk-limit-usd', RISK_LIMIT_USD, '--json']
  const secrets = parseSecrets(await command(env, ['store', 'add', ...options, ...addresses]))
  await gateway.interrupt()
  return secrets
}

async function command(env: Record<string, string>, args: string[], input = ''): Promise<string> {
  const done = run('gateway/cli/main.ts', env, { args, input })
  const code = await done.ended
  if (code !== 0) throw new Error(`${args.slice(0, 2).join(' ')} ended with ${code}:\n${done.output()}`)
  return done.output()
}

const ANSWER_MS = 60_000

/** Resolves to the milliseconds until the API answered. */
export async function answering({ url }: Pick<KillTill, 'url'>, gateway: Running): Promise<number> {
  const begin = performance.now()
  await eventually(
    'the gateway answers',
    async () => {
      if (gateway.hasEnded()) throw new Error(`it ended:\n${gateway.output()}`)
      return (await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(2_000) })).ok || undefined
    },
    ANSWER_MS,
  )
  return performance.now() - begin
}

/** Resolves once every bot is in the hands of a process that has begun since. */
export async function botsOnline({ pool }: Pick<KillTill, 'pool'>, epochs: bigint): Promise<void> {
  await eventually('the bots are online', async () => {
    const { rows } = await pool.query<{ online: boolean; epochs: string }>(
      'select bool_and(online) as online, sum(lease_epoch) as epochs from bot',
    )
    const [row] = rows
    return (row?.online === true && BigInt(row.epochs) >= epochs + BigInt(BOTS.length)) || undefined
  })
}

/** How often bots have changed hands so far. */
export async function epochsOf({ pool }: Pick<KillTill, 'pool'>): Promise<bigint> {
  const { rows } = await pool.query<{ epochs: string }>('select sum(lease_epoch) as epochs from bot')
  return BigInt(rows[0]?.epochs ?? 0)
}

/**
 * A minute passes while no gateway runs: the leases, claims and jobs of the dead one run out. It spares the wait, and
 * changes nothing that time would not.
 */
export async function passMinute({ pool }: Pick<KillTill, 'pool'>): Promise<void> {
  await pool.query(`
    update bot set lease_until = lease_until - interval '1 minute';
    update trade set send_started_at = send_started_at - interval '1 minute' where state = 'sending';
    update trade set due_at = due_at - interval '1 minute' where due_at is not null;
    update webhook_delivery set due_at = due_at - interval '1 minute' where state = 'due';
    update pgboss.job set started_on = started_on - interval '1 minute' where state = 'active';`)
}

async function onServer(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
