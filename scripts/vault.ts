/**
 * Sets up and starts the sandbox's vault: enrols the bots, allows a destination, adds an account that sells, and uses a
 * separate system account if possible.
 */
import { execFile } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { runningDatabase } from '../gateway/db/connection-file.ts'
import { COMPILE_CACHE } from '../gateway/kit/compile-cache.ts'
import { type Child, startChild } from './children.ts'

const ROOT = join(import.meta.dirname, '..')
const FILE = join(ROOT, 'vault/main.ts')
const DEADLINE_MS = 60_000
const READY_MS = 60_000
const LIMITS = ['--usd-an-hour', '5000.00', '--usd-a-day', '20000.00', '--items-an-hour', '500']
/** The account that stores the sandbox's items. It accepts every offer. */
const STORAGE = 'magic_accepts'
/** The name of its destination, written last: while it is missing, the bots and the limits are set up again. */
const STORAGE_NAME = 'storage'

export type VaultSetup = { dataRoot: string; sandboxUrl: string; marketUrl: string; gatewayData: string }
/** `stopSignal` aborts running commands, prevents further ones, and stops the vault. */
export type VaultStart = VaultSetup & { stopSignal: AbortSignal }

type Bot = { accountName: string; password: string; sharedSecret: string; identitySecret: string }
type Seller = Bot & { steamId: string; tradeUrl: string }
type Player = { name: string; tradeUrl: string }
type Account = { uid: number; gid: number }

export type StartedVault = { child: Child; line: string }

/** Starts the vault. If it cannot start, returns the problem, because the till works without a vault. */
export async function startVault(setup: VaultStart): Promise<StartedVault | { problem: string }> {
  try {
    return await setUpAndStart(setup)
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

/** `account`: the user that runs the vault; undefined for this process's own. `file`: the vault's program. */
export type VaultPlace = {
  file: string
  folder: string
  account: Account | undefined
  env: Record<string, string>
}

/** Returns how the sandbox's vault and its commands are run. Throws if no database is known. */
export function placeOfVault({ dataRoot, sandboxUrl, marketUrl, gatewayData }: VaultSetup): VaultPlace {
  const folder = join(dataRoot, 'vault')
  const databaseUrl = process.env.TRADETILL_VAULT_DATABASE_URL ?? runningDatabase(gatewayData)?.vaultUrl
  if (databaseUrl === undefined) throw new Error('TRADETILL_VAULT_DATABASE_URL is not set.')
  const account = separateAccount(folder)
  const env = {
    NODE_COMPILE_CACHE: compileCacheOf(account),
    TRADETILL_VAULT: folder,
    TRADETILL_VAULT_DATABASE_URL: databaseUrl,
    TRADETILL_STEAM_SANDBOX_URL: sandboxUrl,
    TRADETILL_MARKET_SANDBOX_URL: marketUrl,
  }
  return { file: FILE, folder, account, env }
}

/** Returns the folder for compiled code. Another user cannot write to ours and has a separate one. */
function compileCacheOf(account: Account | undefined): string {
  if (account === undefined) return COMPILE_CACHE
  const folder = `${COMPILE_CACHE}-${account.uid}`
  try {
    mkdirSync(folder, { recursive: true })
    chownSync(folder, account.uid, account.gid)
  } catch {
    // Without the folder, Node compiles every time.
  }
  return folder
}

async function setUpAndStart(setup: VaultStart): Promise<StartedVault> {
  const { sandboxUrl, marketUrl, stopSignal } = setup
  const { folder, account, env } = placeOfVault(setup)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (account !== undefined) chownSync(folder, account.uid, account.gid)
  const command = (args: string[], input = '') =>
    runWithInput([FILE, ...args], { env, account, input, stopSignal })
  if (lacks(join(folder, 'rules.json'), STORAGE_NAME)) {
    const bots = await askSandbox<Bot[]>(`${sandboxUrl}/control/bots`)
    await command(['enrol'], linesOf(bots))
    const players = await askSandbox<Player[]>(`${sandboxUrl}/control/magic`)
    const storage = players.find(({ name }) => name === STORAGE)
    if (storage === undefined) throw new Error(`The sandbox has no ${STORAGE}.`)
    await command(['limits', ...LIMITS])
    await command(['allow', STORAGE_NAME, storage.tradeUrl])
  }
  if (lacks(join(folder, 'markets.json'), LAST_MARKET)) await addSeller({ sandboxUrl, marketUrl }, command)
  stopSignal.throwIfAborted()
  const child = startChild({
    name: 'vault',
    file: FILE,
    args: ['run'],
    env: { ...env, TRADETILL_STDIN: '1' },
    account,
  })
  stopSignal.addEventListener('abort', () => void child.stop(), { once: true })
  await child.waitForLine('vault ready', READY_MS).catch(async (error: unknown) => {
    await child.stop()
    throw error
  })
  const who = account === undefined ? 'as the same user as the gateway' : `as user ${account.uid}`
  return { child, line: `the vault runs ${who}; its files are in ${folder}` }
}

/** True if the file does not contain this text in quotes. */
export const lacks = (file: string, text: string): boolean =>
  !existsSync(file) || !readFileSync(file, 'utf8').includes(JSON.stringify(text))

const linesOf = (accounts: readonly Bot[]): string =>
  accounts
    .map(({ accountName, password, sharedSecret, identitySecret }) =>
      [accountName, password, sharedSecret, identitySecret].join('\t'),
    )
    .map((line) => `${line}\n`)
    .join('')

type Urls = Pick<VaultSetup, 'sandboxUrl' | 'marketUrl'>
type Command = (args: string[], input?: string) => Promise<void>

/** Set up last: while its name is missing from the vault's file, the account that sells is set up again. */
const LAST_MARKET = 'waxpeer.com'
/** The name of each market in the vault, and in the sandbox. */
const MARKETS = [
  ['market.csgo.com', 'family'],
  [LAST_MARKET, 'waxpeer'],
] as const

/** Adds an account that sells: a destination of the vault, and a seller on the markets. */
async function addSeller({ sandboxUrl, marketUrl }: Urls, command: Command): Promise<void> {
  const seller = await askSandbox<Seller>(`${sandboxUrl}/control/sellers`, {})
  await command(['enrol', '--sells'], linesOf([seller]))
  await command(['allow', 'seller', seller.tradeUrl])
  for (const [market, name] of MARKETS) {
    const { key } = await askSandbox<{ key: string }>(`${marketUrl}/control/sellers?market=${name}`, {
      steamId: seller.steamId,
    })
    await command(['market', market, '--account', seller.steamId], `${key}\n`)
  }
}

/** Calls the sandbox and returns its answer. Posts `body` if there is one. */
async function askSandbox<T>(url: string, body?: object): Promise<T> {
  const signal = AbortSignal.timeout(DEADLINE_MS)
  const headers = { 'content-type': 'application/json' }
  const request = body && { method: 'POST', headers, body: JSON.stringify(body) }
  const response = await fetch(url, { signal, ...request })
  if (!response.ok) throw new Error(`${url} answered ${response.status}.`)
  return (await response.json()) as T
}

type RunOptions = {
  env: Record<string, string>
  account: Account | undefined
  input: string
  stopSignal: AbortSignal
}

/** Runs Node with these arguments. If it fails, throws with the first line of its stderr. */
export function runWithInput(args: readonly string[], options: RunOptions): Promise<void> {
  const { env, account, input, stopSignal: signal } = options
  return new Promise((resolve, reject) => {
    const settings = { env: { ...process.env, ...env }, timeout: DEADLINE_MS, signal, ...account }
    const child = execFile(process.execPath, args, settings, (error, _out, errors) => {
      if (error) reject(new Error(`vault ${args[1]}: ${errors.trim().split('\n')[0] || error.message}`))
      else resolve()
    })
    // The process can end before it reads its input, for example by Ctrl-C. Its end is reported above.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
}

/** Returns the account `nobody` if this process is root and that account can reach the code, Node and the folder. */
function separateAccount(folder: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined
  const isReachable = [FILE, process.execPath, dirname(folder)].every(canOthersPass)
  return isReachable ? findNobody() : undefined
}

/** Returns whether other accounts can enter every folder of this path. */
function canOthersPass(path: string): boolean {
  const parent = dirname(path)
  return (statSync(path).mode & 0o001) !== 0 || statSync(path).isFile()
    ? parent === path || canOthersPass(parent)
    : false
}

function findNobody(): Account | undefined {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith('nobody:'))
  const [, , uid, gid] = line?.split(':') ?? []
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}
