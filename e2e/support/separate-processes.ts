/** Starts the gateway, the Steam sandbox and the demo store separately, so a test can end one while the others run. */
import { join } from 'node:path'
import { offerEvidence } from '../../gateway/testing/evidence.ts'
import { parseSecrets, type StoreSecrets } from './demo-store.ts'
import { eventually, isServing, type Running, run } from './process.ts'
import { readBotTokens } from './sandbox.ts'
import { newPlace, type Place, query, removePlace, waitForBot } from './till.ts'

export type Parts = {
  place: Place
  secrets: StoreSecrets
  gateway: Running
  sandbox: Running
  store: Running
  /** `env`: settings that differ from the usual ones. */
  startGateway(env?: Record<string, string>): Promise<void>
  startSandbox(): Promise<void>
  query(sql: string, values?: unknown[]): Promise<Record<string, unknown>[]>
  end(): Promise<void>
}

/** Ends the started process when this one ends. */
const TIED = { isTied: true }

export async function startParts(): Promise<Parts> {
  const place = await newPlace()
  const gatewayEnv = { ...place.env, TRADETILL_DATA: join(place.root, 'gateway'), ...addressesOf(place) }
  const sandbox = await startSandbox(place)
  const gateway = await startGateway(place, gatewayEnv)
  await runOperatorCommand(gatewayEnv, ['bot', 'add'], `${(await readBotTokens(place.sandbox)).join('\n')}\n`)
  const webhook = `${place.store}/webhooks/tradetill`
  const create = ['store', 'add', '--name', 'Ember Forge', '--origin', place.store]
  const options = ['--webhook-url', webhook, '--risk-limit-usd', '1000', '--json']
  const secrets = parseSecrets(await runOperatorCommand(gatewayEnv, [...create, ...options]))
  const parts: Parts = {
    place,
    secrets,
    gateway,
    sandbox,
    store: await startStore(place, secrets),
    async startGateway(env = {}) {
      parts.gateway = await startGateway(place, { ...gatewayEnv, ...env })
    },
    async startSandbox() {
      parts.sandbox = await startSandbox(place)
    },
    query: (sql, values) => query(place, sql, values),
    async end() {
      await Promise.all([parts.gateway.interrupt(), parts.store.interrupt()])
      await parts.sandbox.interrupt()
      removePlace(place)
    },
  }
  offerEvidence('gateway.log', () => parts.gateway.output())
  offerEvidence('sandbox.log', () => parts.sandbox.output())
  await waitForBot(place)
  return parts
}

function addressesOf(place: Place): Record<string, string> {
  return { TRADETILL_PUBLIC_URL: place.gateway, TRADETILL_STEAM_SANDBOX_URL: place.sandbox }
}

async function startSandbox(place: Place): Promise<Running> {
  const data = { STEAM_SANDBOX_DATA: join(place.root, 'steam-sandbox.json') }
  return untilServing(run('steam-sandbox/main.ts', { ...place.env, ...data }, TIED), place.sandbox)
}

async function startGateway(place: Place, env: Record<string, string>): Promise<Running> {
  return untilServing(run('embedded-postgres/main.ts', env, TIED), `${place.gateway}/healthz`)
}

async function startStore(place: Place, secrets: StoreSecrets): Promise<Running> {
  const env = {
    ...place.env,
    DEMO_STORE_DATA: join(place.root, 'demo-store.sqlite'),
    TRADETILL_URL: place.gateway,
    TRADETILL_API_KEY: secrets.apiKey,
    TRADETILL_WEBHOOK_SECRET: secrets.webhookSecret,
    STEAM_SANDBOX_URL: place.sandbox,
  }
  return untilServing(run('demo-store/main.ts', env, TIED), place.store)
}

async function untilServing(process: Running, url: string): Promise<Running> {
  await eventually(`${url} answers`, async () => {
    if (process.hasEnded()) throw new Error(process.output())
    return (await isServing(url)) || undefined
  })
  return process
}

async function runOperatorCommand(env: Record<string, string>, args: string[], input = ''): Promise<string> {
  const command = run('gateway/cli/main.ts', env, { args, input })
  const code = await command.ended
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}:\n${command.output()}`)
  return command.output()
}
