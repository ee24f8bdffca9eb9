/** The table of the operator's commands. A command's code is loaded when it is run, so the help costs nothing else. */
import type { Config } from '../config.ts'
import type { Db } from '../db/client.ts'
import type { TillClock } from '../kit/clock.ts'
import type { Terminal } from './terminal.ts'

/** What every command works with: the settings, the till's database and clock, and the operator. */
export type Context = { config: Config; db: Db; clock: TillClock; terminal: Terminal }

export type Run = (context: Context, args: string[]) => Promise<void>

export type Command = {
  /** Two words. */
  name: string
  /** Arguments as the help shows them, in one or more lines. */
  takes?: string
  does: string
  load(): Promise<Run>
}

export const COMMANDS: readonly Command[] = [
  {
    name: 'bot enrol',
    takes: '[--phone]',
    does: 'enrols a bot: asks for account name, password and code; or the Steam app approves',
    load: async () => (await import('./bots.ts')).enrolBot,
  },
  {
    name: 'bot add',
    does: 'enrols bots: refresh tokens on stdin, one a line',
    load: async () => (await import('./bots.ts')).addBots,
  },
  {
    name: 'bot list',
    does: 'shows every bot, whether it can be reached, its items and the end of its token',
    load: async () => (await import('./bots.ts')).showBots,
  },
  {
    name: 'bot pause',
    takes: 'BOT',
    does: 'keeps a bot from new trades; BOT is its number or Steam id',
    load: async () => (await import('./bots.ts')).changeBot('pause'),
  },
  {
    name: 'bot resume',
    takes: 'BOT',
    does: 'lets a paused bot go on',
    load: async () => (await import('./bots.ts')).changeBot('resume'),
  },
  {
    name: 'bot remove',
    takes: 'BOT',
    does: 'removes a bot and its token, once none of its trades must be watched',
    load: async () => (await import('./bots.ts')).changeBot('remove'),
  },
  {
    name: 'items export',
    does: 'what the bots hold, as CSV',
    load: async () => (await import('./items.ts')).exportItems,
  },
  {
    name: 'items moved',
    does: 'records that items left their bots: lines of the export on stdin',
    load: async () => (await import('./items.ts')).recordMoved,
  },
  {
    name: 'store add',
    takes: `--name NAME --origin URL [--origin URL ...] [--webhook-url URL]
[--risk-limit-usd DOLLARS] [--credit-mode on_accept|on_release]
[--liability operator|store] [--accent '#RRGGBB'] [--json]`,
    does: 'registers a store; prints its API key and webhook secret once',
    load: async () => (await import('./stores.ts')).addStore,
  },
  {
    name: 'store update',
    takes: `--id STORE [--origin URL ... [--webhook-url URL]] [--accent '#RRGGBB'|none]`,
    does: 'gives a store these origins, its first endpoint this address, its page this colour',
    load: async () => (await import('./stores.ts')).changeStore,
  },
  {
    name: 'store show',
    takes: 'STORE',
    does: 'its settings, keys, endpoints and balances',
    load: async () => (await import('./stores.ts')).showStore,
  },
  {
    name: 'key add',
    takes: '--store STORE --name NAME [--scope SCOPE ...]',
    does: 'makes another key, with these rights only; prints it once',
    load: async () => (await import('./stores.ts')).addStoreKey,
  },
  {
    name: 'key rotate',
    takes: 'KEY [--overlap-hours 24]',
    does: 'makes a key like this one, which works for so long beside it; prints it once',
    load: async () => (await import('./stores.ts')).rotateStoreKey,
  },
  {
    name: 'key revoke',
    takes: 'KEY',
    does: 'ends a key at once',
    load: async () => (await import('./stores.ts')).revokeStoreKey,
  },
  {
    name: 'payout record',
    takes: '--store STORE --currency CUR --amount MINOR --reference TEXT',
    does: 'records that a store was paid out; the same reference is recorded once',
    load: async () => (await import('./money.ts')).recordPayout,
  },
  {
    name: 'deposit show',
    takes: 'DEPOSIT',
    does: "all that is known of a deposit, in the order of time, with Steam's ids",
    load: async () => (await import('./money.ts')).showDeposit,
  },
  {
    name: 'price show',
    takes: '--game GAME --item NAME',
    does: 'what each source says of an item, and what a shopper is credited',
    load: async () => (await import('./prices.ts')).showPrice,
  },
  {
    name: 'price block',
    takes: '--game GAME (--item NAME | --all)',
    does: 'takes no such item',
    load: async () => (await import('./prices.ts')).holdPrice('blocked'),
  },
  {
    name: 'price freeze',
    takes: '--game GAME (--item NAME | --all)',
    does: 'keeps the price of an item as it is',
    load: async () => (await import('./prices.ts')).holdPrice('frozen'),
  },
  {
    name: 'price release',
    takes: '--game GAME (--item NAME | --all)',
    does: 'listens to the sources again',
    load: async () => (await import('./prices.ts')).releasePrice,
  },
  {
    name: 'price list',
    does: 'the sources and how they do, and what is blocked or frozen',
    load: async () => (await import('./prices.ts')).listPrices,
  },
  {
    name: 'maintenance on',
    does: 'pauses new trades and the time of deposits',
    load: async () => (await import('./maintenance.ts')).switchMaintenance(true),
  },
  {
    name: 'maintenance off',
    does: 'lets trades and the time of deposits go on',
    load: async () => (await import('./maintenance.ts')).switchMaintenance(false),
  },
  {
    name: 'clock advance',
    takes: 'DURATION',
    does: 'sandbox only: moves the time of the till and of its Steam on, such as 90s, 15m or 8d',
    load: async () => (await import('./clock.ts')).advance,
  },
]

/** Width of the column with the commands. */
const COLUMN = 28

function helpOf({ name, takes = '', does }: Command): string {
  const [first = '', ...more] = takes.split('\n')
  const head = `  ${name} ${first}`.trimEnd()
  if (more.length === 0 && head.length < COLUMN) return `${head.padEnd(COLUMN + 1)}${does}`
  const further = more.map((line) => `${' '.repeat(name.length + 3)}${line}`)
  return [head, ...further, `${' '.repeat(COLUMN + 1)}${does}`].join('\n')
}

/** The help, of these commands only. */
export function usage(commands: readonly Command[] = COMMANDS): string {
  return [
    'usage: npm run --silent tradetill -- COMMAND',
    '',
    ...commands.map(helpOf),
    '',
    '  --help after a command, or after its first word, shows its own part of this.',
  ].join('\n')
}
