/** The operator's commands. They work on the database of a running gateway, or on DATABASE_URL. */
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { addBot, listBots } from '../bots/service.ts'
import { type Config, readConfigOrExit } from '../config.ts'
import { openDatabase } from '../db/client.ts'
import { runningEmbeddedUrl } from '../db/embedded.ts'
import { systemClock } from '../kit/clock.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import { createSandboxAgent } from '../steam/agent.ts'
import type { Steam } from '../steam/steam.ts'
import { createWebSteam } from '../steam/web.ts'
import { createStore, updateStore } from '../stores/service.ts'
import { switchMaintenance } from './maintenance.ts'

const USAGE = `usage: npm run --silent tradetill -- COMMAND

  bot add                    enrols bots: refresh tokens on stdin, one a line
  bot list                   shows every bot and whether it can be reached
  store create --name NAME --origin URL [--origin URL ...]
               [--webhook-url URL] [--risk-limit-usd DOLLARS] [--json]
                             registers a store; prints its API key and webhook secret once
  store update --id ID --origin URL [--origin URL ...] [--webhook-url URL]
                             gives a store these addresses instead of those it has
  maintenance on|off         pauses new trades and the time of deposits, or lets them go on
`

/** Ends the command with a message and exit code 1. */
class Refusal extends Error {}

type Context = { config: Config; db: ReturnType<typeof openDatabase>['db'] }

const COMMANDS: Record<string, (context: Context, args: string[]) => Promise<void>> = {
  'bot add': addBots,
  'bot list': showBots,
  'store create': addStore,
  'store update': changeStore,
  'maintenance on': ({ db }) => switchMaintenance(db, true),
  'maintenance off': ({ db }) => switchMaintenance(db, false),
}

async function main([noun = '', verb = '', ...args]: string[]): Promise<void> {
  const command = COMMANDS[`${noun} ${verb}`]
  if (command === undefined) throw new Refusal(USAGE)
  const config = readConfigOrExit()
  const url = config.databaseUrl ?? runningEmbeddedUrl(config.dataDir)
  if (url === undefined) {
    throw new Refusal(`No gateway is running on ${config.dataDir}. Start it first, or set DATABASE_URL.`)
  }
  const database = openDatabase(url, 2)
  try {
    await command({ config, db: database.db }, args)
  } finally {
    await database.close()
  }
}

function steamOf({ mode, steamSandboxUrl }: Config): Steam {
  if (steamSandboxUrl === undefined) return createWebSteam()
  const base = new URL(steamSandboxUrl).origin
  return createWebSteam({
    redirect: createSandboxAgent(mode, base),
    imageBase: base,
    communityBase: base,
  })
}

async function addBots({ config, db }: Context): Promise<void> {
  const steam = steamOf(config)
  const box = createSecretBox(config.masterKey)
  let failed = 0
  for await (const line of createInterface({ input: process.stdin })) {
    const refreshToken = line.trim()
    if (refreshToken === '') continue
    const answer = await addBot({ db, steam, box, clock: systemClock, refreshToken })
    if (answer.kind === 'added') {
      console.log(`bot ${answer.botId} added: ${answer.name} (${answer.steamId})`)
      continue
    }
    failed += 1
    const detail = answer.kind === 'unavailable' ? `: ${answer.detail}` : ''
    console.error(`a bot was not added: ${answer.reason}${detail}`)
  }
  if (failed > 0) throw new Refusal(`${failed} not added. Check the token, or try again once Steam answers.`)
}

async function showBots({ db }: Context): Promise<void> {
  for (const bot of await listBots(db)) {
    const reach = bot.reachable ? 'online' : `offline (${bot.stateReason ?? 'no gateway holds it'})`
    console.log(`${bot.botId}\t${bot.state}\t${reach}\tlevel ${bot.level}\t${bot.steamId}\t${bot.name}`)
  }
}

const DOLLARS = /^\d{1,9}$/

async function addStore({ config, db }: Context, args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      name: { type: 'string' },
      origin: { type: 'string', multiple: true },
      'webhook-url': { type: 'string' },
      'risk-limit-usd': { type: 'string', default: '0' },
      json: { type: 'boolean', default: false },
    },
  })
  const limit = values['risk-limit-usd']
  if (!DOLLARS.test(limit)) throw new Refusal('--risk-limit-usd takes whole dollars, such as 1000')
  const webhookUrl = values['webhook-url']
  const created = await createStore(
    { db, box: createSecretBox(config.masterKey), mode: config.mode },
    {
      name: values.name ?? '',
      origins: values.origin ?? [],
      riskLimitUsdCents: BigInt(limit) * 100n,
      ...(webhookUrl === undefined ? {} : { webhookUrl }),
    },
  )
  if (created.kind === 'refused') throw new Refusal(created.reason)
  const { storeId, apiKey, webhookSecret } = created
  if (values.json) {
    console.log(JSON.stringify({ storeId: String(storeId), apiKey, webhookSecret }))
    return
  }
  console.log(`store ${storeId} created. The key and the secret are shown only now:`)
  console.log(`  API key         ${apiKey}\n  webhook secret  ${webhookSecret}`)
}

const STORE_ID = /^\d{1,18}$/

async function changeStore({ config, db }: Context, args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      id: { type: 'string', default: '' },
      origin: { type: 'string', multiple: true, default: [] },
      'webhook-url': { type: 'string' },
    },
  })
  if (!STORE_ID.test(values.id)) throw new Refusal('--id takes the number of a store')
  const webhookUrl = values['webhook-url']
  const addresses = { origins: values.origin, ...(webhookUrl === undefined ? {} : { webhookUrl }) }
  const updated = await updateStore({ db, mode: config.mode }, BigInt(values.id), addresses)
  if (updated.kind === 'refused') throw new Refusal(updated.reason)
  console.log(`store ${values.id} updated`)
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
