/** Prepares the till for the demo: enrols the sandbox's bots and registers the demo store, as an operator would. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { runCommandLine } from '../gateway/cli/run.ts'

export type DemoSetup = {
  /** The file that stores the registration. */
  file: string
  urls: { gateway: string; sandbox: string; store: string }
  /** Settings of the gateway, for the operator's commands. */
  gatewayEnv: Record<string, string>
}

export type StoreAccess = { apiKey: string; webhookSecret: string }

type Registration = StoreAccess & {
  storeId: string
  /** Address of the demo store as the till knows it. */
  url: string
  /** Steam ids of the bots that were enrolled. */
  bots: string[]
  /** Milliseconds since 1970, by the sandbox's clock, which can be advanced. */
  enrolledAt: number
}

type SandboxBot = { steamId: string; refreshToken: string }

const DEADLINE_MS = 10_000
/** Age at which a bot is enrolled again. The sandbox's refresh tokens are valid for 200 days. */
const TOKEN_AGE_MS = 100 * 86_400_000
const RISK_LIMIT_USD = '1000'
/** The colour of the demo store's own pages. */
const ACCENT = '#ff7a2f'

/** Enrols the bots and registers the store, where that is missing or outdated, and stores the result. */
export async function prepareDemo(setup: DemoSetup): Promise<StoreAccess> {
  const known = await knownRegistration(setup)
  const [bots, store] = await Promise.all([enrolBots(setup, known), registerStore(setup, known)])
  const registration: Registration = { ...store, ...bots, url: setup.urls.store }
  write(setup.file, JSON.stringify(registration))
  return store
}

/**
 * Returns the stored registration. Undefined if there is none, or if the till's database is new and lacks the store.
 */
async function knownRegistration({ file, urls }: DemoSetup): Promise<Partial<Registration> | undefined> {
  const known = read(file)
  if (known?.apiKey === undefined) return undefined
  // Any call shows whether the till knows the key, whether or not this deposit exists.
  const { status } = await fetch(`${urls.gateway}/v1/deposits/1`, {
    headers: { authorization: `Bearer ${known.apiKey}` },
    signal: AbortSignal.timeout(DEADLINE_MS),
  })
  return status === 401 ? undefined : known
}

async function enrolBots({ urls, gatewayEnv }: DemoSetup, known: Partial<Registration> | undefined) {
  const getJson = async (path: string) =>
    (await fetch(`${urls.sandbox}${path}`, { signal: AbortSignal.timeout(DEADLINE_MS) })).json()
  const sandboxBots = (await getJson('/control/bots')) as SandboxBot[]
  const { nowS } = (await getJson('/control/clock')) as { nowS: number }
  const nowMs = nowS * 1_000
  const bots = sandboxBots.map((bot) => bot.steamId).sort()
  const enrolledAt = known?.enrolledAt ?? 0
  const isCurrent = nowMs - enrolledAt < TOKEN_AGE_MS && known?.bots?.join() === bots.join()
  if (isCurrent) return { bots, enrolledAt }
  const tokens = sandboxBots.map((bot) => bot.refreshToken)
  await command(['bot', 'add'], gatewayEnv, tokens)
  return { bots, enrolledAt: nowMs }
}

async function registerStore(
  { urls, gatewayEnv }: DemoSetup,
  known: Partial<Registration> | undefined,
): Promise<StoreAccess & { storeId: string }> {
  const addresses = ['--origin', urls.store, '--webhook-url', `${urls.store}/webhooks/tradetill`]
  const { storeId, apiKey, webhookSecret } = known ?? {}
  if (storeId === undefined || apiKey === undefined || webhookSecret === undefined) {
    const appearance = ['--name', 'Ember Forge', '--accent', ACCENT]
    const options = [...appearance, ...addresses, '--risk-limit-usd', RISK_LIMIT_USD, '--json']
    const created = await command(['store', 'add', ...options], gatewayEnv)
    const store = JSON.parse(created) as StoreAccess & { storeId: string }
    return { storeId: store.storeId, apiKey: store.apiKey, webhookSecret: store.webhookSecret }
  }
  if (known?.url !== urls.store) {
    await command(['store', 'update', '--store', storeId, ...addresses], gatewayEnv)
  }
  return { storeId, apiKey, webhookSecret }
}

/** Runs an operator's command in this process; rejects with its message if it is refused. */
async function command(
  args: string[],
  gatewayEnv: Record<string, string>,
  input: readonly string[] = [],
): Promise<string> {
  const out: string[] = []
  const errors: string[] = []
  const terminal = {
    print: (line: string) => void out.push(line),
    warn: (line: string) => void errors.push(line),
    async *lines() {
      yield* input
    },
    openQuestions() {
      throw new Error('the demo cannot answer a prompt')
    },
    finish: async () => undefined,
  }
  const code = await runCommandLine(args, { env: { ...process.env, ...gatewayEnv }, terminal })
  if (code !== 0) throw new Error(`${args.join(' ')} failed: ${errors.join('\n')}`)
  return out.join('\n')
}

/** Returns undefined if the file is missing, as on the first start, or damaged. */
function read(file: string): Partial<Registration> | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Partial<Registration>
  } catch {
    return undefined
  }
}

/** Writes the file under another name and renames it when complete, so a killed start leaves no incomplete file. */
function write(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}
