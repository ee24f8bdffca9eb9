/** The one reader of the environment. */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import type { Game } from '../contract/games.ts'
import { DEFAULT_FLEET_LIMITS, type FleetLimits, MOST_FLEET_LIMITS } from './bots/fleet.ts'
import { isLoopback } from './kit/loopback.ts'
import { type PerGame, perGame } from './pricing/per-game.ts'
import type { PricingRules } from './pricing/price.ts'
import { PRICE_SETTINGS, problemOfRules, rulesOf, type WebSources, webSourcesOf } from './pricing/settings.ts'

const KEY_BYTES = 32

/** Seven days, and one more for clocks and for what is carried out late. */
const PROTECTION_DAYS: Record<Game, number> = { cs: 8, dota: 0, rust: 0, tf: 0 }
/** How long Steam protects a trade of Counter-Strike 2. */
const LEAST_CS_DAYS = 7

const port = z.coerce.number().int().min(0).max(65_535)
const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http(s) address' })
const flag = z.enum(['0', '1'], { error: 'must be 0 or 1' }).transform((value) => value === '1')
const whole = (min: number, max: number, why: string) => {
  const error = `must be a whole number from ${min} to ${max}: ${why}`
  return z.coerce.number({ error }).int({ error }).min(min, { error }).max(max, { error })
}
const list = z.string().transform((value) => value.split(',').map((entry) => entry.trim()))

const environmentSchema = z
  .object({
    TRADETILL_MODE: z.enum(['sandbox', 'live'], { error: 'must be sandbox or live' }).default('sandbox'),
    TRADETILL_PORT: port.default(4300),
    TRADETILL_HOST: z.string().default('127.0.0.1'),
    /** Where GET /metrics is served, apart from the shoppers' page. */
    TRADETILL_METRICS_PORT: port.optional(),
    TRADETILL_METRICS_HOST: z.string().default('127.0.0.1'),
    /** Where shoppers reach the gateway. */
    TRADETILL_PUBLIC_URL: httpUrl.optional(),
    DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// address' }).optional(),
    TRADETILL_DATA: z.string().default('.data/gateway'),
    TRADETILL_MASTER_KEY: z.string().optional(),
    TRADETILL_MASTER_KEY_FILE: z.string().optional(),
    TRADETILL_STEAM_SANDBOX_URL: httpUrl.optional(),
    TRADETILL_PRICES_FILE: z.string().optional(),
    /** Shown on the landing page of the sandbox. */
    TRADETILL_DEMO_STORE_URL: httpUrl.optional(),
    /** Shown on the help page. */
    TRADETILL_SUPPORT_EMAIL: z.email().optional(),
    TRADETILL_MESSENGER_URL: httpUrl.optional(),
    /** Where /home sends the browser. */
    TRADETILL_HOME_URL: httpUrl.optional(),
    ...PRICE_SETTINGS,
    /** Days in which the sender can take a trade back; what Steam itself says of a trade counts where it is longer. */
    TRADETILL_PROTECTION_DAYS: perGame(0, 30).optional(),
    /** Most items in one trade. */
    TRADETILL_MAX_ITEMS: z.coerce.number().int().min(1).max(256).default(50),
    TRADETILL_MAX_BOTS: z.coerce.number().int().min(1).max(1_000).default(50),
    /** Open offers of one bot, in all and to one person. */
    TRADETILL_BOT_OFFERS: whole(
      1,
      MOST_FLEET_LIMITS.liveOffers,
      'Steam refuses further open offers of an account',
    ).default(DEFAULT_FLEET_LIMITS.liveOffers),
    TRADETILL_BOT_OFFERS_PER_PARTNER: whole(
      1,
      MOST_FLEET_LIMITS.liveOffersWithPartner,
      'Steam refuses further open offers to the same person',
    ).default(DEFAULT_FLEET_LIMITS.liveOffersWithPartner),
    /** Items in its hands from which on a bot collects no more. */
    TRADETILL_BOT_ITEMS: whole(
      1,
      MOST_FLEET_LIMITS.itemsHeld,
      'an inventory of Steam has no room for more',
    ).default(DEFAULT_FLEET_LIMITS.itemsHeld),
    /** Deposits of one store that are neither paid nor over. */
    TRADETILL_STORE_OPEN_DEPOSITS: z.coerce.number().int().min(1).max(1_000_000).default(5_000),
    TRADETILL_TRUSTED_PROXIES: list.optional(),
    TRADETILL_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
    TRADETILL_LOG_PRETTY: flag.default(false),
    /** Who gives the commands, where it is not the user of this machine. */
    TRADETILL_OPERATOR: z.string().max(80, 'must have at most 80 characters').optional(),
    /** Stop when stdin ends: for whoever starts the gateway as a child. */
    TRADETILL_STDIN: flag.default(false),
  })
  .superRefine((environment, context) => {
    const problems =
      environment.TRADETILL_MODE === 'live' ? problemsOfLive(environment) : problemsOfSandbox(environment)
    const problemOfPrices = problemOfRules(environment)
    if (problemOfPrices !== undefined) {
      context.addIssue({ code: 'custom', path: ['TRADETILL_COMMISSION_BPS'], message: problemOfPrices })
    }
    for (const [name, message] of problems) context.addIssue({ code: 'custom', path: [name], message })
  })

type Environment = {
  TRADETILL_PUBLIC_URL?: string | undefined
  DATABASE_URL?: string | undefined
  TRADETILL_MASTER_KEY?: string | undefined
  TRADETILL_MASTER_KEY_FILE?: string | undefined
  TRADETILL_STEAM_SANDBOX_URL?: string | undefined
  TRADETILL_PROTECTION_DAYS?: PerGame | undefined
}

type Found = [name: keyof Environment, message: string][]

function problemsOfLive(environment: Environment): Found {
  const found: Found = problemsOfKey(environment)
  if (environment.TRADETILL_STEAM_SANDBOX_URL !== undefined) {
    found.push(['TRADETILL_STEAM_SANDBOX_URL', 'must not be set in live mode: the sandbox invents items'])
  }
  if (environment.DATABASE_URL === undefined) {
    found.push(['DATABASE_URL', 'is needed in live mode: the address of a PostgreSQL that is backed up'])
  }
  if (environment.TRADETILL_MASTER_KEY === undefined && environment.TRADETILL_MASTER_KEY_FILE === undefined) {
    found.push([
      'TRADETILL_MASTER_KEY',
      'or TRADETILL_MASTER_KEY_FILE is needed in live mode: it seals the secrets',
    ])
  }
  if ((environment.TRADETILL_PROTECTION_DAYS?.cs ?? LEAST_CS_DAYS) < LEAST_CS_DAYS) {
    const why = 'that long a sender of Counter-Strike 2 can take a trade back'
    found.push(['TRADETILL_PROTECTION_DAYS', `must be at least ${LEAST_CS_DAYS} for cs in live mode: ${why}`])
  }
  const publicUrl = environment.TRADETILL_PUBLIC_URL
  if (publicUrl === undefined || new URL(publicUrl).protocol !== 'https:') {
    found.push([
      'TRADETILL_PUBLIC_URL',
      'is needed in live mode and must be https: where shoppers reach the page',
    ])
  }
  return found
}

function problemsOfSandbox(environment: Environment): Found {
  const found: Found = problemsOfKey(environment)
  const sandbox = environment.TRADETILL_STEAM_SANDBOX_URL
  if (sandbox !== undefined && !isLoopback(new URL(sandbox))) {
    found.push(['TRADETILL_STEAM_SANDBOX_URL', 'must be on this machine, such as http://127.0.0.1:4301'])
  }
  return found
}

function problemsOfKey({ TRADETILL_MASTER_KEY, TRADETILL_MASTER_KEY_FILE }: Environment): Found {
  if (TRADETILL_MASTER_KEY !== undefined) {
    return keyOf(TRADETILL_MASTER_KEY) ? [] : [['TRADETILL_MASTER_KEY', 'must be 32 bytes in base64 or hex']]
  }
  if (TRADETILL_MASTER_KEY_FILE === undefined) return []
  if (!existsSync(TRADETILL_MASTER_KEY_FILE)) return [['TRADETILL_MASTER_KEY_FILE', 'does not exist']]
  const key = keyOf(readFileSync(TRADETILL_MASTER_KEY_FILE, 'utf8'))
  return key ? [] : [['TRADETILL_MASTER_KEY_FILE', 'must hold 32 bytes in base64 or hex']]
}

function keyOf(text: string): Buffer | undefined {
  const trimmed = text.trim()
  const key = /^[0-9a-f]{64}$/i.test(trimmed) ? Buffer.from(trimmed, 'hex') : Buffer.from(trimmed, 'base64')
  return key.length === KEY_BYTES ? key : undefined
}

export type Config = {
  mode: 'sandbox' | 'live'
  host: string
  port: number
  metricsHost: string
  metricsPort: number | undefined
  publicUrl: URL
  /** Without one the gateway runs a PostgreSQL of its own in dataDir. */
  databaseUrl: string | undefined
  dataDir: string
  masterKey: Buffer
  /** Set exactly in sandbox mode. */
  steamSandboxUrl: string | undefined
  pricesFile: string | undefined
  demoStoreUrl: string | undefined
  supportEmail: string | undefined
  messengerUrl: string | undefined
  homeUrl: string | undefined
  priceRules: PricingRules
  priceSources: WebSources
  protectionDays: Record<Game, number>
  maxItems: number
  maxBots: number
  fleetLimits: FleetLimits
  storeOpenDeposits: number
  trustedProxies: string[] | undefined
  logLevel: 'debug' | 'info' | 'warn' | 'error'
  logPretty: boolean
  operator: string | undefined
  stopWithStdin: boolean
}

export type ConfigAnswer = { kind: 'config'; config: Config } | { kind: 'refused'; problems: string[] }

const OURS = /^(TRADETILL_|DATABASE_URL$)/

/**
 * Reads the settings; empty ones count as absent. All problems are told at once. In sandbox mode a missing master
 * key is made and kept in the data folder.
 */
export function readConfig(environment: Record<string, string | undefined> = process.env): ConfigAnswer {
  const given = Object.entries(environment).filter(([name, value]) => OURS.test(name) && value !== '')
  const parsed = environmentSchema.safeParse(Object.fromEntries(given))
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`)
    return { kind: 'refused', problems }
  }
  const { data } = parsed
  const dataDir = resolve(data.TRADETILL_DATA)
  const sandbox = data.TRADETILL_STEAM_SANDBOX_URL ?? 'http://127.0.0.1:4301'
  const config: Config = {
    mode: data.TRADETILL_MODE,
    host: data.TRADETILL_HOST,
    metricsHost: data.TRADETILL_METRICS_HOST,
    metricsPort: data.TRADETILL_METRICS_PORT,
    port: data.TRADETILL_PORT,
    publicUrl: new URL(data.TRADETILL_PUBLIC_URL ?? `http://localhost:${data.TRADETILL_PORT}`),
    databaseUrl: data.DATABASE_URL,
    dataDir,
    masterKey: masterKeyOf(data, dataDir),
    steamSandboxUrl: data.TRADETILL_MODE === 'sandbox' ? sandbox : undefined,
    pricesFile: data.TRADETILL_PRICES_FILE,
    demoStoreUrl: data.TRADETILL_DEMO_STORE_URL,
    supportEmail: data.TRADETILL_SUPPORT_EMAIL,
    messengerUrl: data.TRADETILL_MESSENGER_URL,
    homeUrl: data.TRADETILL_HOME_URL,
    priceRules: rulesOf(data),
    protectionDays: { ...PROTECTION_DAYS, ...data.TRADETILL_PROTECTION_DAYS },
    priceSources: webSourcesOf(data, data.TRADETILL_MODE),
    maxItems: data.TRADETILL_MAX_ITEMS,
    maxBots: data.TRADETILL_MAX_BOTS,
    fleetLimits: {
      liveOffers: data.TRADETILL_BOT_OFFERS,
      liveOffersWithPartner: data.TRADETILL_BOT_OFFERS_PER_PARTNER,
      itemsHeld: data.TRADETILL_BOT_ITEMS,
    },
    storeOpenDeposits: data.TRADETILL_STORE_OPEN_DEPOSITS,
    trustedProxies: data.TRADETILL_TRUSTED_PROXIES,
    logLevel: data.TRADETILL_LOG_LEVEL,
    logPretty: data.TRADETILL_LOG_PRETTY,
    operator: data.TRADETILL_OPERATOR,
    stopWithStdin: data.TRADETILL_STDIN,
  }
  return { kind: 'config', config }
}

/** Ends the process with a readable list if the settings are wrong. */
export function readConfigOrExit(): Config {
  const answer = readConfig()
  if (answer.kind === 'config') return answer.config
  process.stderr.write(`${refusalOf(answer.problems)}\n`)
  process.exit(1)
}

/** What the operator is told of wrong settings. */
export function refusalOf(problems: readonly string[]): string {
  const list = problems.map((problem) => `  - ${problem}`).join('\n')
  return `Tradetill cannot start with these settings:\n${list}\nSee docs/operating.md.`
}

function masterKeyOf(
  { TRADETILL_MASTER_KEY, TRADETILL_MASTER_KEY_FILE }: Environment,
  dataDir: string,
): Buffer {
  if (TRADETILL_MASTER_KEY !== undefined) return checkedKey(TRADETILL_MASTER_KEY)
  if (TRADETILL_MASTER_KEY_FILE !== undefined)
    return checkedKey(readFileSync(TRADETILL_MASTER_KEY_FILE, 'utf8'))
  const file = join(dataDir, 'master.key')
  mkdirSync(dataDir, { recursive: true })
  try {
    const key = randomBytes(KEY_BYTES)
    writeFileSync(file, key.toString('base64'), { mode: 0o600, flag: 'wx' })
    return key
  } catch {
    return checkedKey(readFileSync(file, 'utf8'))
  }
}

function checkedKey(text: string): Buffer {
  const key = keyOf(text)
  if (key === undefined) throw new Error('The master key must be 32 bytes in base64 or hex.')
  return key
}
