import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { runningDatabase } from '../../gateway/db/connection-file.ts'
import { eventually, freePorts, GiveUp, isServing, type Running, run } from './process.ts'

/** Where a till runs: its folder, its settings, and the addresses of its parts. */
export type Place = {
  root: string
  env: Record<string, string>
  gateway: string
  sandbox: string
  store: string
  market: string
  console: string
}

export type Till = Place & { main: Running }

/** Chooses ports and a folder; nothing runs yet. */
export async function newPlace(): Promise<Place> {
  const root = mkdtempSync(join(tmpdir(), 'tradetill-e2e-'))
  // The account that runs PostgreSQL must be able to enter the folder.
  chmodSync(root, 0o755)
  const [gateway = 0, sandbox = 0, store = 0, market = 0, operators = 0] = await freePorts(5)
  return {
    root,
    env: {
      TRADETILL_PORT: String(gateway),
      STEAM_SANDBOX_PORT: String(sandbox),
      DEMO_STORE_PORT: String(store),
      MARKET_SANDBOX_PORT: String(market),
      TRADETILL_CONSOLE_PORT: String(operators),
      TRADETILL_DATA_ROOT: root,
    },
    gateway: `http://localhost:${gateway}`,
    sandbox: `http://localhost:${sandbox}`,
    store: `http://localhost:${store}`,
    market: `http://localhost:${market}`,
    console: `http://localhost:${operators}`,
  }
}

const READY_TIMEOUT_MS = 180_000

/**
 * Runs `npm start` at this place. Resolves once gateway, sandbox and store answer and a bot has logged in. On a
 * failure, ends what it started.
 */
export async function startTill(place?: Place, outputFile?: string): Promise<Till> {
  const tillPlace = place ?? (await newPlace())
  const main = run('scripts/start.ts', tillPlace.env, outputFile === undefined ? {} : { outputFile })
  const isAnswering = async () => {
    if (main.hasEnded()) throw new GiveUp('npm start ended')
    const answers = await Promise.all([
      isServing(`${tillPlace.gateway}/healthz`),
      isServing(tillPlace.sandbox),
      isServing(tillPlace.store),
    ])
    return answers.every(Boolean) || undefined
  }
  try {
    await eventually('the till answers', isAnswering, READY_TIMEOUT_MS)
    await waitForBot(tillPlace, main)
  } catch (error) {
    await main.interrupt()
    throw new Error(`${String(error)}\n${main.output()}`)
  }
  return { ...tillPlace, main }
}

/** Ends the till with Ctrl-C, and removes its folder. */
export async function endTill({ main, root }: Till): Promise<void> {
  await main.interrupt()
  removePlace({ root })
}

export function removePlace({ root }: Pick<Place, 'root'>): void {
  rmSync(root, { recursive: true, force: true, maxRetries: 5 })
}

/** Waits until a bot is online. Before that, the till refuses every inventory and trade. */
export function waitForBot({ root }: Pick<Place, 'root'>, main?: Running): Promise<boolean> {
  return eventually('a bot is online', async () => {
    if (main?.hasEnded()) throw new GiveUp('npm start ended')
    const onlineBots = await query({ root }, 'select 1 from bot where online')
    return onlineBots.length > 0 || undefined
  })
}

export async function query(
  { root }: Pick<Place, 'root'>,
  sql: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: runningDatabase(join(root, 'gateway'))?.ownerUrl })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql, values)).rows
  } finally {
    await client.end()
  }
}
