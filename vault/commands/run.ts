/** `run`: runs the vault until it is told to stop. */
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { repeat } from '../lines.ts'
import { type Connection, liveConnection, sandboxConnection } from '../markets/clients/connection.ts'
import { tillIn } from '../markets/till-store.ts'
import { problemOf, reportFailedStart } from '../needs.ts'
import { needsIn } from '../needs-store.ts'
import type { Settings } from '../settings.ts'
import { createCaller } from '../steam/call.ts'
import { openDatabase } from '../till-database.ts'
import { holdFolder, openVault, type Vault, type VaultParts } from '../vault.ts'
import { wishesIn } from '../wishes/store.ts'
import { waitForTill } from '../wishes/wait-for-till.ts'

/** How long a `WorkLine` pauses after a round that succeeded, and after one that failed. */
const ROUND_PAUSE_MS = 3_000
const FAILED_PAUSE_MS = 15_000

export async function run(settings: Settings): Promise<void> {
  const { mode, folder, databaseUrl, steamSandboxUrl, followsStdin } = settings
  if (databaseUrl === undefined) {
    throw new Error('The vault needs TRADETILL_VAULT_DATABASE_URL, with its own role tradetill_vault.')
  }
  const log = pino({ base: { part: 'vault' } })
  const lock = await holdFolder(folder)
  /** How far the till's clock is ahead of the machine's. */
  let aheadMs = 0
  const now = () => new Date(Date.now() + aheadMs)
  const database = openDatabase(databaseUrl)
  const wishes = wishesIn(database.query, now)
  const till = tillIn(database.query)
  const needsStore = needsIn(database.query)
  const say: VaultParts['say'] = (line, about) => log.info(about, line)
  const open = (): Vault =>
    openVault({
      folder,
      wishes,
      till,
      needsStore,
      caller: createCaller(steamSandboxUrl),
      connection: connectionOf(settings),
      timer: { nowMs: () => performance.now(), pause: (ms) => delay(ms) },
      now,
      machineMs: () => Date.now(),
      say,
    })
  const vault = await openOr(open, async (error) => {
    await reportFailedStart({ store: needsStore, now, say }, error)
    await database.close()
  })
  const stop = stopSignal(followsStdin)
  log.info({ folder, uid: process.getuid?.() ?? 0 }, 'the vault was started')
  const isReady = await waitForTill(till, {
    stop,
    pause: (ms) => delay(ms, undefined, { signal: stop }).catch(() => {}),
    say: (problem) => log.error({ problem }, 'the database did not answer'),
  })
  if (isReady) console.log(`vault ready at ${folder}`)
  // The till's time is used only in a sandbox, because only a sandbox's clock can be advanced.
  const clock = {
    name: 'clock of the sandbox',
    async round() {
      if (mode === 'sandbox') aheadMs = await till.aheadMs().catch(() => aheadMs)
    },
  }
  await clock.round()
  await repeat([clock, ...vault.lines], {
    stop,
    pause: (hasSucceeded) =>
      delay(hasSucceeded ? ROUND_PAUSE_MS : FAILED_PAUSE_MS, undefined, { signal: stop }).catch(() => {}),
    onFailure: (line, error) => log.error({ line, problem: problemOf(error) }, 'a round of the vault failed'),
  })
  vault.close()
  await database.close()
  lock.close()
  log.info('the vault was stopped')
}

/** Calls `onFailure` before it throws what `open` throws. */
async function openOr(open: () => Vault, onFailure: (error: unknown) => Promise<void>): Promise<Vault> {
  try {
    return open()
  } catch (error) {
    await onFailure(error)
    throw error
  }
}

function connectionOf({ mode, marketSandboxUrl }: Settings): Connection {
  if (mode === 'live') return liveConnection()
  if (marketSandboxUrl !== undefined) return sandboxConnection(mode, marketSandboxUrl)
  // A vault that sells nothing needs no market, so only calls to a market fail.
  const problem = new Error('TRADETILL_MARKET_SANDBOX_URL is not set.')
  return {
    ask: () => Promise.reject(problem),
    open() {
      throw problem
    },
  }
}

/** Returns a signal that aborts when the vault must stop. A round that has begun runs to its end. */
function stopSignal(followsStdin: boolean): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => controller.abort())
  }
  if (followsStdin) {
    process.stdin.once('end', () => controller.abort()).resume()
    // Standard input stays open as long as the parent lives, and would keep a finished process running.
    controller.signal.addEventListener('abort', () => process.stdin.destroy())
  }
  return controller.signal
}
