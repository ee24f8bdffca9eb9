/** The operator's commands. They work on the database of a running gateway, or on DATABASE_URL. */
import { type Config, readConfigOrExit } from '../config.ts'
import { openDatabase } from '../db/client.ts'
import { runningEmbeddedUrl } from '../db/embedded.ts'
import { addBots, changeBot, enrolBot, showBots } from './bots.ts'
import { exportItems, recordMoved } from './items.ts'
import { switchMaintenance } from './maintenance.ts'
import { holdPrice, listPrices, releasePrice, showPrice } from './prices.ts'
import {
  addStore,
  addStoreKey,
  changeStore,
  recordPayout,
  revokeStoreKey,
  rotateStoreKey,
  showDeposit,
  showStore,
} from './stores.ts'
import { Refusal } from './terminal.ts'

const USAGE = `usage: npm run --silent tradetill -- COMMAND

  bot enrol [--phone]        enrols a bot: asks for account name, password and code; or the Steam app approves
  bot add                    enrols bots: refresh tokens on stdin, one a line
  bot list                   shows every bot, whether it can be reached, its items and the end of its token
  bot pause|resume BOT       keeps a bot from new trades, or lets it go on; BOT is its number or Steam id
  bot remove BOT             removes a bot and its token, once none of its trades must be watched
  items export               what the bots hold, as CSV
  items moved                records that items left their bots: lines of the export on stdin
  store add --name NAME --origin URL [--origin URL ...] [--webhook-url URL]
            [--risk-limit-usd DOLLARS] [--credit-mode on_accept|on_release]
            [--liability operator|store] [--accent '#RRGGBB'] [--json]
                             registers a store; prints its API key and webhook secret once
  store update --id STORE [--origin URL ... [--webhook-url URL]] [--accent '#RRGGBB'|none]
                             gives a store these origins, its first endpoint this address, its page this colour
  store show STORE           its settings, keys, endpoints and balances
  key add --store STORE --name NAME [--scope SCOPE ...]
                             makes another key, with these rights only; prints it once
  key rotate KEY [--overlap-hours 24]
                             makes a key like this one, which works for so long beside it; prints it once
  key revoke KEY             ends a key at once
  payout record --store STORE --currency CUR --amount MINOR --reference TEXT
                             records that a store was paid out; the same reference is recorded once
  deposit show DEPOSIT       all that is known of a deposit, in the order of time, with Steam's ids
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
  'store add': addStore,
  'store update': changeStore,
  'store show': showStore,
  'key add': addStoreKey,
  'key rotate': rotateStoreKey,
  'key revoke': revokeStoreKey,
  'payout record': recordPayout,
  'deposit show': showDeposit,
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

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
