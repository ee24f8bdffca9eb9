/** `npm start`: runs the gateway and, in sandbox mode, the sandboxes, the demo store and the vault. */
import { randomBytes } from 'node:crypto'
import { accessSync, constants, realpathSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { join, resolve } from 'node:path'
import { cacheCompiledCode } from '../gateway/kit/compile-cache.ts'
import { tryLock } from '../gateway/kit/lock.ts'
import { makeFolder } from '../gateway/kit/make-folder.ts'
import { buildConsoleIfChanged, buildWidgetIfChanged } from './build-pages.ts'
import { type Child, portProblem, startChild } from './children.ts'
import { prepareDemo } from './demo.ts'
import { beginTour } from './tour.ts'
import { startVault } from './vault.ts'

cacheCompiledCode()

const ROOT = join(import.meta.dirname, '..')
const env = process.env
const dataRoot = resolve(env.TRADETILL_DATA_ROOT || join(ROOT, '.data'))
const PORTS = {
  gateway: { setting: 'TRADETILL_PORT', fallback: 4300 },
  sandbox: { setting: 'STEAM_SANDBOX_PORT', fallback: 4301 },
  store: { setting: 'DEMO_STORE_PORT', fallback: 4302 },
  market: { setting: 'MARKET_SANDBOX_PORT', fallback: 4303 },
  console: { setting: 'TRADETILL_CONSOLE_PORT', fallback: 4304 },
} as const
const ports = {
  gateway: portOf('gateway'),
  sandbox: portOf('sandbox'),
  store: portOf('store'),
  market: portOf('market'),
  console: portOf('console'),
}
const urls = {
  gateway: `http://localhost:${ports.gateway}`,
  sandbox: `http://localhost:${ports.sandbox}`,
  store: `http://localhost:${ports.store}`,
  market: `http://localhost:${ports.market}`,
  console: `http://localhost:${ports.console}`,
}

/** The key that signs in to the console of this run without a passkey. */
const consoleKey = randomBytes(32).toString('base64url')

/** How long a part that is starting may print nothing. */
const READY_MS = 180_000

/** A message for the person at the terminal, shown without a stack. */
class Refusal extends Error {}

/** Settings are variables, so an argument has no effect. Prints them or a refusal, and ends. */
function answerArgument(argument: string): never {
  if (argument !== '--help' && argument !== '-h') {
    console.error(
      `npm start takes no arguments, so ${argument} would have no effect. Its settings: npm start -- --help`,
    )
    process.exit(2)
  }
  const lines = Object.entries(PORTS).map(([name, { setting, fallback }]) => {
    return `  ${setting.padEnd(24)}${`port of the ${name}`.padEnd(24)}${fallback}`
  })
  console.log(`npm start runs the till and, in sandbox mode, everything that it needs. Ctrl-C stops it.

Settings, such as TRADETILL_PORT=4400 npm start:

${lines.join('\n')}
  TRADETILL_DATA_ROOT     folder of all parts, ${join(ROOT, '.data')} by default

More: docs/operating.md#settings`)
  process.exit(0)
}

function portOf(name: keyof typeof PORTS): number {
  const { setting, fallback } = PORTS[name]
  return Number(env[setting] || fallback)
}

/** If a port cannot be used, throws a Refusal that names its setting. */
async function checkPorts(): Promise<void> {
  for (const [name, { setting }] of Object.entries(PORTS)) {
    const port = ports[name as keyof typeof PORTS]
    if (!Number.isInteger(port) || port < 1 || port > 65_535) {
      throw new Refusal(`${setting} must be a port from 1 to 65535.`)
    }
    if (Object.values(ports).filter((other) => other === port).length > 1) {
      throw new Refusal(`${setting} is ${port}, which another part also uses: each needs its own port.`)
    }
    const problem = await portProblem(port)
    if (problem === undefined) continue
    const why = problem === 'taken' ? 'is taken' : 'may not be used by this user'
    throw new Refusal(
      `Port ${port} for the ${name} ${why}. Free it, or choose another one: ${setting}=${port + 100} npm start`,
    )
  }
}

function makeDataRoot(): void {
  try {
    makeFolder(dataRoot)
    accessSync(dataRoot, constants.W_OK)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Refusal(
      `The folder ${dataRoot} cannot be written (${reason}). Allow it, or set TRADETILL_DATA_ROOT to another one.`,
    )
  }
}

const children: Child[] = []
/** Children that the tour ended on purpose. */
const endedOnPurpose = new Set<Child>()
let isStopping = false
/** Aborts the set-up of the vault, which is not yet a child. */
const setUpAbort = new AbortController()
let vaultSetUp: Promise<void> = Promise.resolve()

async function stopAll(): Promise<void> {
  isStopping = true
  setUpAbort.abort()
  // In reverse order: the store before the gateway, and the gateway before the Steam sandbox that it calls.
  for (const child of [...children].reverse()) await child.stop()
  await vaultSetUp
}

/** Starts one of the programs of `npm start`. If it ends unexpectedly, everything stops. */
function startPart(name: string, file: string, environment: Record<string, string>): Child {
  const child = startChild({ name, file: join(ROOT, file), env: environment })
  children.push(child)
  void child.ended.then((how) => {
    if (isStopping || endedOnPurpose.has(child)) return
    console.error(`\nThe ${name} ended unexpectedly (${how}): stopping everything.`)
    void stopAll()
      .then(checkPorts)
      // If another program took the port after the first check, this reports it.
      .catch((error: unknown) => console.error(error instanceof Refusal ? error.message : error))
      .finally(() => process.exit(1))
  })
  return child
}

const gatewayEnv: Record<string, string> = {
  TRADETILL_PORT: String(ports.gateway),
  TRADETILL_DATA: join(dataRoot, 'gateway'),
  TRADETILL_STEAM_SANDBOX_URL: urls.sandbox,
  TRADETILL_DEMO_STORE_URL: urls.store,
  // Examples that lead nowhere: without them the help page would end where an operator's contacts belong.
  TRADETILL_SUPPORT_EMAIL: env.TRADETILL_SUPPORT_EMAIL || 'support@tradetill.example',
  TRADETILL_MESSENGER_URL: env.TRADETILL_MESSENGER_URL || 'https://messenger.example/tradetill',
  TRADETILL_CONSOLE_PORT: String(ports.console),
  TRADETILL_CONSOLE_SANDBOX_KEY: consoleKey,
  TRADETILL_LOG_PRETTY: '1',
  TRADETILL_STDIN: '1',
}

const startGateway = (): Child => startPart('gateway', 'embedded-postgres/main.ts', gatewayEnv)

async function killGateway(gateway: Child): Promise<{ replacement: Child; ready: Promise<void> }> {
  endedOnPurpose.add(gateway)
  await gateway.kill()
  console.log('\nThe tour killed the gateway and is starting it again.')
  const replacement = startGateway()
  // The new gateway takes the old one's place in the list, because the parts are stopped in order.
  children.splice(children.indexOf(gateway), 1, ...children.splice(-1))
  return { replacement, ready: replacement.waitForLine('ready at', READY_MS) }
}

/** Starts the tour, which adds its buttons to the sandbox's page. */
async function startTour(parts: { sandbox: Child; gateway: Child; apiKey: string }): Promise<void> {
  let { gateway } = parts
  const tour = await beginTour({
    urls,
    apiKey: parts.apiKey,
    async killGateway() {
      const { replacement, ready } = await killGateway(gateway)
      gateway = replacement
      return { ready }
    },
  })
  parts.sandbox.onLine((line) => {
    const name = /^scene wanted: (.+)$/.exec(line)?.[1]
    if (name === undefined) return
    tour.play(name).catch((error: unknown) => {
      if (!isStopping) console.error(`\nThe result of a scene of the tour could not be shown: ${error}`)
    })
  })
}

async function startSandboxMode(): Promise<void> {
  makeDataRoot()
  const lock = await tryLock(`start ${realpathSync(dataRoot)}`)
  if (lock === undefined) {
    throw new Refusal(
      `Tradetill is already running on ${dataRoot}. Stop that one with Ctrl-C, or use its pages.`,
    )
  }
  await checkPorts()
  const widget = buildWidgetIfChanged()
  const sandbox = startPart('Steam sandbox', 'steam-sandbox/main.ts', {
    STEAM_SANDBOX_PORT: String(ports.sandbox),
    STEAM_SANDBOX_DATA: join(dataRoot, 'sandbox.json'),
    STEAM_SANDBOX_STDIN: '1',
  })
  const gateway = startGateway()
  await Promise.all([
    widget,
    sandbox.waitForLine('ready at', READY_MS),
    gateway.waitForLine('ready at', READY_MS),
  ])
  const access = await prepareDemo({ file: join(dataRoot, 'demo-store.json'), urls, gatewayEnv })
  const store = startPart('demo store', 'demo-store/main.ts', {
    DEMO_STORE_PORT: String(ports.store),
    DEMO_STORE_DATA: join(dataRoot, 'demo-store.sqlite'),
    TRADETILL_URL: urls.gateway,
    TRADETILL_API_KEY: access.apiKey,
    TRADETILL_WEBHOOK_SECRET: access.webhookSecret,
    STEAM_SANDBOX_URL: urls.sandbox,
    DEMO_STORE_STDIN: '1',
  })
  const market = startPart('market sandbox', 'market-sandbox/main.ts', {
    MARKET_SANDBOX_PORT: String(ports.market),
    MARKET_SANDBOX_DATA: join(dataRoot, 'market.json'),
    MARKET_SANDBOX_PRICES: join(ROOT, 'gateway/pricing/sources/sandbox-prices.json'),
    STEAM_SANDBOX_URL: urls.sandbox,
    MARKET_SANDBOX_STDIN: '1',
  })
  await Promise.all([store.waitForLine('ready at', READY_MS), market.waitForLine('ready at', READY_MS)])
  await startTour({ sandbox, gateway, apiKey: access.apiKey })
  console.log(`
Tradetill is ready (sandbox: no real items, no real money).

  demo store     ${urls.store}
  gateway        ${urls.gateway}
  Steam sandbox  ${urls.sandbox}
  market         ${urls.market}
  console        ${urls.console}/enter#sandbox=${consoleKey}

First: open ${urls.store} and press “Top up with game items”.
Then:  the tour, ten minutes with a button for each scene: ${urls.sandbox}/tour/
       sell what was paid, in two minutes: docs/selling.md#try-it-in-two-minutes
Ctrl-C stops everything.`)
  vaultSetUp = startOwnVault()
  // Built last, because shoppers do not need the operators' page.
  await buildConsoleIfChanged().catch((error: unknown) => console.error(error))
}

async function startOwnVault(): Promise<void> {
  if (isStopping) return
  const gatewayData = gatewayEnv.TRADETILL_DATA ?? ''
  const place = { dataRoot, sandboxUrl: urls.sandbox, marketUrl: urls.market, gatewayData }
  const started = await startVault({ ...place, stopSignal: setUpAbort.signal })
  if (isStopping) {
    if ('child' in started) await started.child.stop()
    return
  }
  if ('problem' in started) {
    console.error(`\nNo vault was started, so no items can be sent: ${started.problem}`)
    return
  }
  children.push(started.child)
  console.log(`\nVault: ${started.line}.`)
  void started.child.ended.then((how) => {
    if (!isStopping) console.error(`\nThe vault ended (${how}). The till continues without it.`)
  })
}

async function startLiveMode(): Promise<void> {
  await buildWidgetIfChanged()
  await buildConsoleIfChanged()
  const gateway = startPart('gateway', 'gateway/main.ts', { TRADETILL_STDIN: '1' })
  await gateway.waitForLine('ready at', READY_MS)
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (isStopping) return
    console.log('\nStopping …')
    void stopAll().then(() => process.exit(0))
  })
}

const [argument] = process.argv.slice(2)
if (argument !== undefined) answerArgument(argument)

try {
  await (env.TRADETILL_MODE === 'live' ? startLiveMode() : startSandboxMode())
  // Write the cache now, because a killed process does not.
  flushCompileCache()
} catch (error) {
  if (!isStopping) {
    console.error(error instanceof Error ? error.message : error)
    await stopAll()
    process.exit(1)
  }
}
