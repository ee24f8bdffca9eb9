/** Reads and checks the settings. No other file of the gateway reads the environment. */
import { resolve } from 'node:path'
import { z } from 'zod'
import type { Game } from '../contract/games.ts'
import {
  DEFAULT_FLEET_LIMITS,
  type FleetLimits,
  MOST_ITEMS_HELD,
  MOST_LIVE_OFFERS,
  MOST_LIVE_OFFERS_WITH_PARTNER,
} from './bots/fleet.ts'
import type { Destinations } from './departures/departure.ts'
import { destinationsSchema } from './departures/destinations.ts'
import { readSettingFile } from './kit/setting-file.ts'
import { readTrustedProxies } from './kit/trusted-proxies.ts'
import { type KeyAnswer, parseKey, readKeyFile, readOldKeysFile, readOwnKey } from './master-key.ts'
import { problemsOf } from './mode-checks.ts'
import { perGame } from './pricing/per-game.ts'
import type { PricingRules } from './pricing/price.ts'
import { PRICE_SETTINGS, problemOfRules, rulesOf, type WebSources, webSourcesOf } from './pricing/settings.ts'
import { KEEP_SETTINGS, type Keep, keepOf } from './retention/settings.ts'
import { type UnknownSetting, unknownSettings } from './unknown-settings.ts'

/**
 * Steam protects trades of Counter-Strike 2 for 7 days. An eighth day allows for late reversals and differing clocks.
 */
export const DEFAULT_PROTECTION_DAYS: Record<Game, number> = { cs: 8, dota: 0, rust: 0, tf: 0 }

const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' })
/** A public address. Links and origins are made from it, so it must have no path. */
const publicUrl = httpUrl.refine((text) => isOrigin(text), {
  error: 'must have no path or query: the till answers at the root of its own host',
})
const isOrigin = (text: string): boolean => {
  const url = URL.parse(text)
  return url?.href === `${url?.origin}/`
}
const flag = z.enum(['0', '1'], { error: 'must be 0 or 1' }).transform((value) => value === '1')
const wholeNumber = (min: number, max: number, why: string) => {
  const error = `must be a whole number from ${min} to ${max}: ${why}`
  return z.coerce.number({ error }).int({ error }).min(min, { error }).max(max, { error })
}
const port = wholeNumber(0, 65_535, 'it is a port')

/**
 * `web` answers shoppers, stores and operators, `console` only operators. `bots` holds bots. `work` sends webhooks,
 * numbers events, reads prices, expires deposits and runs the sweeps.
 */
export const ROLES = ['web', 'bots', 'work', 'console'] as const
export type Role = (typeof ROLES)[number]

const listOf = (text: string): string[] => text.split(',').map((part) => part.trim())
const isRole = (text: string): text is Role => ROLES.some((role) => role === text)
const roles = z
  .string()
  .refine((text) => listOf(text).every(isRole), {
    error: `must be one or more of ${ROLES.join(', ')}, separated by commas`,
  })
  .transform((text) => new Set(listOf(text).filter(isRole)))

const COST_OF_CONNECTION = 'each connection costs memory and a file descriptor'

const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const

const environmentSchema = z
  .object({
    TRADETILL_MODE: z.enum(['sandbox', 'live'], { error: 'must be sandbox or live' }).default('sandbox'),
    TRADETILL_PORT: port.default(4300),
    TRADETILL_HOST: z.string().default('127.0.0.1'),
    /** Port of GET /metrics, apart from the shoppers' page. */
    TRADETILL_METRICS_PORT: port.optional(),
    TRADETILL_METRICS_HOST: z.string().default('127.0.0.1'),
    /** Port of the operators' console, which has its own origin. Without a port there is no console. */
    TRADETILL_CONSOLE_PORT: port.optional(),
    TRADETILL_CONSOLE_HOST: z.string().default('127.0.0.1'),
    TRADETILL_CONSOLE_URL: publicUrl.optional(),
    /** A key that signs in to the console of a sandbox without a passkey. npm start makes one for each run. */
    TRADETILL_CONSOLE_SANDBOX_KEY: z.string().min(32, 'must have at least 32 characters').optional(),
    /** Address at which shoppers reach the gateway. */
    TRADETILL_PUBLIC_URL: publicUrl.optional(),
    /** Allows other machines to reach a sandbox. */
    TRADETILL_PUBLIC_SANDBOX: flag.default(false),
    DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// address' }).optional(),
    /** Address of the same database with the role that owns its tables: for migrations, backups and their checks. */
    TRADETILL_OWNER_DATABASE_URL: z
      .url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// address' })
      .optional(),
    /** Allows a connection without TLS to a database on another machine. */
    TRADETILL_PLAIN_DATABASE: flag.default(false),
    TRADETILL_DATA: z.string().default('.data/gateway'),
    /** Folder of pg_dump and pg_restore. */
    TRADETILL_POSTGRES_PROGRAMS: z.string().optional(),
    TRADETILL_MASTER_KEY: z.string().optional(),
    TRADETILL_MASTER_KEY_FILE: z.string().optional(),
    /** Older master keys. They open existing secrets, but seal no new ones. */
    TRADETILL_OLD_MASTER_KEYS_FILE: z.string().optional(),
    TRADETILL_STEAM_SANDBOX_URL: httpUrl.optional(),
    TRADETILL_PRICES_FILE: z.string().optional(),
    /** Linked from the landing page of the sandbox. */
    TRADETILL_DEMO_STORE_URL: httpUrl.optional(),
    /** Shown on the help page. */
    TRADETILL_SUPPORT_EMAIL: z.email({ error: 'must be an email address' }).optional(),
    TRADETILL_MESSENGER_URL: httpUrl.optional(),
    /** A video that shows how to find a trade link, instead of the till's own. */
    TRADETILL_GUIDE_VIDEO_URL: httpUrl.optional(),
    /** Address to which /home redirects the browser. */
    TRADETILL_HOME_URL: httpUrl.optional(),
    ...PRICE_SETTINGS,
    ...KEEP_SETTINGS,
    /** How many days a delivered trade stays `held`, unless Steam reports a longer protection of that trade. */
    TRADETILL_PROTECTION_DAYS: perGame(0, 30).optional(),
    /** The most items in one trade. */
    TRADETILL_MAX_ITEMS: wholeNumber(1, 256, 'an offer of Steam has no room for more').default(50),
    TRADETILL_MAX_BOTS: wholeNumber(1, 1_000, 'more bots need another process').default(50),
    /** The most open offers of one bot, in all and to one person. */
    TRADETILL_BOT_OFFERS: wholeNumber(
      1,
      MOST_LIVE_OFFERS,
      'Steam refuses further open offers of an account',
    ).default(DEFAULT_FLEET_LIMITS.liveOffers),
    TRADETILL_BOT_OFFERS_PER_PARTNER: wholeNumber(
      1,
      MOST_LIVE_OFFERS_WITH_PARTNER,
      'Steam refuses further open offers to the same person',
    ).default(DEFAULT_FLEET_LIMITS.liveOffersWithPartner),
    /** A bot that holds this many items of a game collects no more of that game. */
    TRADETILL_BOT_ITEMS: perGame(1, MOST_ITEMS_HELD).optional(),
    /** The operator's accounts to which items may go, by name. */
    TRADETILL_DESTINATIONS: destinationsSchema.optional(),
    /** The most open deposits of one store: those that are neither paid nor ended. */
    TRADETILL_STORE_OPEN_DEPOSITS: wholeNumber(1, 1_000_000, 'each deposit is kept for good').default(5_000),
    TRADETILL_TRUSTED_PROXIES: z.string().transform(readTrustedProxies).optional(),
    /** The most connections in all, and from one address that is not a trusted proxy. */
    TRADETILL_MAX_CONNECTIONS: wholeNumber(10, 100_000, COST_OF_CONNECTION).default(4_000),
    TRADETILL_MAX_CONNECTIONS_PER_ADDRESS: wholeNumber(1, 100_000, COST_OF_CONNECTION).default(200),
    /** The action when a replica takes over from the database's server: stop the till, or begin a new epoch. */
    TRADETILL_AFTER_FAILOVER: z.enum(['stop', 'epoch'], { error: 'must be stop or epoch' }).default('stop'),
    TRADETILL_LOG_LEVEL: z
      .enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.join(', ')}` })
      .default('info'),
    TRADETILL_LOG_PRETTY: flag.default(false),
    /** The operator who gives the commands, if not the user of this machine. */
    TRADETILL_OPERATOR: z.string().max(80, 'must have at most 80 characters').optional(),
    /** Address that receives alerts for the operator, and the secret that signs them. */
    TRADETILL_ALERT_URL: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional(),
    TRADETILL_ALERT_SECRET: z
      .string()
      .regex(/^whsec_[A-Za-z0-9+/]{32,200}={0,2}$/, 'must be whsec_ and 24 to 150 bytes in base64')
      .optional(),
    /** Roles of this process. The processes on one database must together have `web`, `bots` and `work`. */
    TRADETILL_ROLES: roles.optional(),
    /** How long /readyz announces the end of the process before the process stops accepting calls. */
    TRADETILL_DRAIN_SECONDS: wholeNumber(0, 300, 'a balancer notices within seconds').default(0),
    /** Stops the gateway when stdin ends, for a parent process that starts it as a child. */
    TRADETILL_STDIN: flag.default(false),
    /** Socket on which systemd waits for the message that the gateway is ready. */
    NOTIFY_SOCKET: z.string().optional(),
    /** Settings of Node itself. */
    NODE_DEBUG: z.string().optional(),
    NODE_TLS_REJECT_UNAUTHORIZED: z.string().optional(),
  })
  .superRefine((environment, context) => {
    for (const [name, message] of problemsOf(environment)) {
      context.addIssue({ code: 'custom', path: [name], message })
    }
    const problemOfPrices = problemOfRules(environment)
    if (problemOfPrices !== undefined) {
      context.addIssue({ code: 'custom', path: ['TRADETILL_COMMISSION_BPS'], message: problemOfPrices })
    }
  })

export type ConsoleConfig = {
  url: URL
  host: string
  port: number
  /** Undefined if there is none, as always in live mode. */
  sandboxKey: string | undefined
}

export type Config = {
  mode: 'sandbox' | 'live'
  host: string
  port: number
  metricsHost: string
  metricsPort: number | undefined
  publicUrl: URL
  console: ConsoleConfig | undefined
  /** Selects the rules for webhook addresses and for proofs of endpoints. A public sandbox has those of live mode. */
  webhookMode: 'sandbox' | 'live'
  /** Undefined if the gateway runs its own PostgreSQL in dataDir. */
  databaseUrl: string | undefined
  /** Address for the role that owns the tables; undefined if it is not set, as when the till's own role owns them. */
  ownerDatabaseUrl: string | undefined
  dataDir: string
  /** The folder of PostgreSQL's client programs, and the part of the environment that they may read. */
  programs: { folder: string | undefined; environment: Record<string, string | undefined> }
  /** Undefined before the first start of a sandbox: it makes a key only after it has checked the database. */
  masterKey: Buffer | undefined
  oldMasterKeys: Buffer[]
  /** Defined in sandbox mode only. */
  steamSandboxUrl: string | undefined
  pricesFile: string | undefined
  demoStoreUrl: string | undefined
  supportEmail: string | undefined
  messengerUrl: string | undefined
  guideVideoUrl: string | undefined
  homeUrl: string | undefined
  keep: Keep
  priceRules: PricingRules
  /** Games whose commission may be so small that a pumped price pays more than the item's weekly level. */
  mayPayAboveLevel: ReadonlySet<Game>
  priceSources: WebSources
  protectionDays: Record<Game, number>
  maxItems: number
  maxBots: number
  fleetLimits: FleetLimits
  destinations: Destinations
  storeOpenDeposits: number
  trustedProxies: string[] | undefined
  connections: { inAll: number; perAddress: number }
  afterFailover: 'stop' | 'epoch'
  logLevel: 'debug' | 'info' | 'warn' | 'error'
  logPretty: boolean
  operator: string | undefined
  /** Null if alerts are not sent. */
  alerts: { url: string; secret: string } | null
  roles: ReadonlySet<Role>
  drainMs: number
  stopWithStdin: boolean
  /** True if systemd waits for the message that the gateway is ready. */
  notifiesSystemd: boolean
  unknownSettings: UnknownSetting[]
}

export type ConfigAnswer = { kind: 'config'; config: Config } | { kind: 'refused'; problems: string[] }

export const DEFAULT_STEAM_SANDBOX_URL = 'http://127.0.0.1:4301'

/** Settings with the path of a file, and the setting that each file contains. Some systems pass secrets as files. */
const FROM_FILES: Record<string, string> = {
  DATABASE_URL_FILE: 'DATABASE_URL',
  TRADETILL_OWNER_DATABASE_URL_FILE: 'TRADETILL_OWNER_DATABASE_URL',
}

function withFiles(environment: Record<string, string | undefined>) {
  const settings = { ...environment }
  const problems: string[] = []
  for (const [name, target] of Object.entries(FROM_FILES)) {
    const file = environment[name]
    if (file === undefined) continue
    const answer = environment[target] === undefined ? readSettingFile(file) : SET_TWICE
    if (answer.kind === 'refused') problems.push(`${name} ${answer.reason}`)
    else if (answer.text === '') problems.push(`${name} names an empty file: write the address into it`)
    else settings[target] = answer.text
  }
  return { settings, problems }
}

const SET_TWICE = { kind: 'refused', reason: 'and the setting itself are both set: unset one' } as const

export const GATEWAY_SETTINGS = [...Object.keys(environmentSchema.shape), ...Object.keys(FROM_FILES)]
const SETTINGS =
  /^(TRADETILL_|(?:DATABASE_URL(?:_FILE)?|NOTIFY_SOCKET|NODE_DEBUG|NODE_TLS_REJECT_UNAUTHORIZED)$)/

/** Reads the settings, and treats empty ones as absent. If settings from files have problems, reports only those. */
export function readConfig(environment: Record<string, string | undefined> = process.env): ConfigAnswer {
  const ourSettings = Object.entries(environment).filter(
    ([name, value]) => SETTINGS.test(name) && value !== '',
  )
  const { settings, problems } = withFiles(Object.fromEntries(ourSettings))
  if (problems.length > 0) return { kind: 'refused', problems }
  const parsed = environmentSchema.safeParse(settings)
  if (!parsed.success) return { kind: 'refused', problems: linesOf(parsed.error.issues, settings) }
  const { data } = parsed
  const dataDir = resolve(data.TRADETILL_DATA)
  const { TRADETILL_TRUSTED_PROXIES: proxies } = data
  const masterKey = masterKeyOf(data, dataDir)
  if (masterKey?.kind === 'refused') {
    return { kind: 'refused', problems: [masterKey.reason] }
  }
  const sandbox = data.TRADETILL_STEAM_SANDBOX_URL ?? DEFAULT_STEAM_SANDBOX_URL
  const config: Config = {
    mode: data.TRADETILL_MODE,
    host: data.TRADETILL_HOST,
    metricsHost: data.TRADETILL_METRICS_HOST,
    metricsPort: data.TRADETILL_METRICS_PORT,
    port: data.TRADETILL_PORT,
    publicUrl: new URL(data.TRADETILL_PUBLIC_URL ?? `http://localhost:${data.TRADETILL_PORT}`),
    console: consoleOf(data),
    webhookMode: data.TRADETILL_PUBLIC_SANDBOX ? 'live' : data.TRADETILL_MODE,
    databaseUrl: data.DATABASE_URL,
    ownerDatabaseUrl: data.TRADETILL_OWNER_DATABASE_URL,
    dataDir,
    programs: { folder: data.TRADETILL_POSTGRES_PROGRAMS, environment: programEnvironment(environment) },
    masterKey: masterKey?.key,
    oldMasterKeys: oldKeysOf(data.TRADETILL_OLD_MASTER_KEYS_FILE),
    steamSandboxUrl: data.TRADETILL_MODE === 'sandbox' ? sandbox : undefined,
    pricesFile: data.TRADETILL_PRICES_FILE,
    demoStoreUrl: data.TRADETILL_DEMO_STORE_URL,
    supportEmail: data.TRADETILL_SUPPORT_EMAIL,
    messengerUrl: data.TRADETILL_MESSENGER_URL,
    guideVideoUrl: data.TRADETILL_GUIDE_VIDEO_URL,
    homeUrl: data.TRADETILL_HOME_URL,
    keep: keepOf(data),
    priceRules: rulesOf(data),
    mayPayAboveLevel: new Set(data.TRADETILL_PRICE_ABOVE_LEVEL),
    protectionDays: { ...DEFAULT_PROTECTION_DAYS, ...data.TRADETILL_PROTECTION_DAYS },
    priceSources: webSourcesOf(data, data.TRADETILL_MODE),
    maxItems: data.TRADETILL_MAX_ITEMS,
    maxBots: data.TRADETILL_MAX_BOTS,
    fleetLimits: {
      liveOffers: data.TRADETILL_BOT_OFFERS,
      liveOffersWithPartner: data.TRADETILL_BOT_OFFERS_PER_PARTNER,
      itemsHeld: { ...DEFAULT_FLEET_LIMITS.itemsHeld, ...data.TRADETILL_BOT_ITEMS },
    },
    destinations: data.TRADETILL_DESTINATIONS ?? new Map(),
    storeOpenDeposits: data.TRADETILL_STORE_OPEN_DEPOSITS,
    trustedProxies: proxies?.kind === 'proxies' ? proxies.proxies : undefined,
    connections: {
      inAll: data.TRADETILL_MAX_CONNECTIONS,
      perAddress: data.TRADETILL_MAX_CONNECTIONS_PER_ADDRESS,
    },
    afterFailover: data.TRADETILL_AFTER_FAILOVER,
    logLevel: data.TRADETILL_LOG_LEVEL,
    logPretty: data.TRADETILL_LOG_PRETTY,
    operator: data.TRADETILL_OPERATOR,
    alerts: alertsOf(data),
    roles: data.TRADETILL_ROLES ?? new Set(ROLES),
    drainMs: data.TRADETILL_DRAIN_SECONDS * 1_000,
    stopWithStdin: data.TRADETILL_STDIN,
    notifiesSystemd: (data.NOTIFY_SOCKET ?? '') !== '',
    unknownSettings: unknownSettings(Object.keys(settings), GATEWAY_SETTINGS),
  }
  return { kind: 'config', config }
}

function consoleOf(data: z.infer<typeof environmentSchema>): ConsoleConfig | undefined {
  const { TRADETILL_CONSOLE_PORT: port, TRADETILL_CONSOLE_HOST: host } = data
  if (port === undefined) return undefined
  // A name instead of an IP address, because passkeys belong to the name of a host.
  const url = new URL(data.TRADETILL_CONSOLE_URL ?? `http://localhost:${port}`)
  return { url, host, port, sandboxKey: data.TRADETILL_CONSOLE_SANDBOX_KEY }
}

const programEnvironment = (environment: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => /^(?:PATH|HOME|PG[A-Z]+)$/.test(name)))

/** Returns one line per setting, with its first problem. */
function linesOf(
  issues: readonly { path: PropertyKey[]; message: string }[],
  settings: Record<string, string | undefined>,
): string[] {
  const lines = new Map<string, string>()
  for (const { path, message } of issues) {
    const name = path.join('.')
    const isFromFile = FROM_FILES[`${name}_FILE`] === name && settings[`${name}_FILE`] !== undefined
    const origin = isFromFile ? `, from ${name}_FILE,` : ''
    if (!lines.has(name)) lines.set(name, `${name}${origin} ${message}`)
  }
  return [...lines.values()]
}

export function readConfigOrExit(): Config {
  const answer = readConfig()
  if (answer.kind === 'config') return answer.config
  process.stderr.write(`${refusalOf(answer.problems)}\n`)
  process.exit(1)
}

export function refusalOf(problems: readonly string[]): string {
  const bullets = problems.map((problem) => `  - ${problem}`).join('\n')
  return `Tradetill cannot start with these settings:\n${bullets}\nSee docs/operating.md.`
}

type KeySettings = {
  TRADETILL_MASTER_KEY?: string | undefined
  TRADETILL_MASTER_KEY_FILE?: string | undefined
}

/** Undefined if a sandbox has not made its key yet. Configured keys were checked before. */
function masterKeyOf(settings: KeySettings, dataDir: string): KeyAnswer | undefined {
  const { TRADETILL_MASTER_KEY: text, TRADETILL_MASTER_KEY_FILE: file } = settings
  if (text !== undefined) return parseKey(text)
  if (file !== undefined) return readKeyFile(file)
  return readOwnKey(dataDir)
}

function oldKeysOf(file: string | undefined): Buffer[] {
  const answer = file === undefined ? undefined : readOldKeysFile(file)
  return answer?.kind === 'keys' ? answer.keys : []
}

/** `problemsOf` has already refused a URL without a secret, and a secret without a URL. */
function alertsOf(data: {
  TRADETILL_ALERT_URL?: string | undefined
  TRADETILL_ALERT_SECRET?: string | undefined
}) {
  const { TRADETILL_ALERT_URL: url, TRADETILL_ALERT_SECRET: secret } = data
  return url === undefined || secret === undefined ? null : { url, secret }
}
