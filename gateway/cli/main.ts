/** The operator's commands. They work on the database of a running gateway, or on DATABASE_URL. */
import { parseArgs } from 'node:util'
import { type Config, readConfigOrExit } from '../config.ts'
import { openDatabase } from '../db/client.ts'
import { runningEmbeddedUrl } from '../db/embedded.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import { createStore, updateStore } from '../stores/service.ts'
import { addBots, changeBot, enrolBot, showBots } from './bots.ts'
import { exportItems, recordMoved } from './items.ts'
import { switchMaintenance } from './maintenance.ts'
import { holdPrice, listPrices, releasePrice, showPrice } from './prices.ts'
import { Refusal } from './terminal.ts'

const USAGE = `usage: npm run --silent tradetill -- COMMAND

  bot enrol [--phone]        enrols a bot: asks for account name, password and code; or the Steam app approves
  bot add                    enrols bots: refresh tokens on stdin, one a line
  bot list                   shows every bot, whether it can be reached, its items and the end of its token
  bot pause|resume BOT       keeps a bot from new trades, or lets it go on; BOT is its number or Steam id
  bot remove BOT             removes a bot and its token, once none of its trades must be watched
  items export               what the bots hold, as CSV
  items moved                records that items left their bots: lines of the export on stdin
  store create --name NAME --origin URL [--origin URL ...]
               [--webhook-url URL] [--risk-limit-usd DOLLARS] [--json]
                             registers a store; prints its API key and webhook secret once
  store update --id ID --origin URL [--origin URL ...] [--webhook-url URL]
                             gives a store these addresses instead of those it has
  price show --game GAME --item NAME
                             what each source says of an item, and what a shopper is credited
  price block|freeze|release --game GAME (--item NAME | --all)
                             takes no such item; keeps its price as it is; listens to the sources again
  price list                 the sources and how they do, and what is blocked or frozen
  maintenance on|off         pauses new trades and the time of deposits, or lets them go on
`

type Context = { config: Config; db: ReturnType<typeof openDatabase>['db'] }

const COMMANDS: Record<string, (context: Context, args: string[]) => Promise<void>> = {
  'bot add': addBots,
  'bot enrol': enrolBot,
  'bot list': showBots,
  'bot pause': changeBot('pause'),
  'bot resume': changeBot('resume'),
  'bot remove': changeBot('remove'),
  'items export': exportItems,
  'items moved': recordMoved,
  'store create': addStore,
  'store update': changeStore,
  'price show': showPrice,
  'price block': holdPrice('blocked'),
  'price freeze': holdPrice('frozen'),
  'price release': releasePrice,
  'price list': listPrices,
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
