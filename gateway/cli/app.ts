import {
  ArgumentScannerError,
  buildApplication,
  buildRouteMap,
  type Command,
  formatMessageForArgumentScannerError,
  type RouteMap,
  text_en,
} from '@stricli/core'
import { type CommandLine, PREFIX } from './command.ts'
import { acts } from './commands/acts.ts'
import { backup } from './commands/backup.ts'
import { bot } from './commands/bot.ts'
import { clock } from './commands/clock.ts'
import { deposit } from './commands/deposit.ts'
import { doctor } from './commands/doctor.ts'
import { money, overview, weather } from './commands/figures.ts'
import { find } from './commands/find.ts'
import { items } from './commands/items.ts'
import { key } from './commands/key.ts'
import { keyRing } from './commands/key-ring.ts'
import { ledger } from './commands/ledger.ts'
import { listen } from './commands/listen.ts'
import { maintenance } from './commands/maintenance.ts'
import { market } from './commands/market.ts'
import { migrate } from './commands/migrate.ts'
import { operator } from './commands/operator.ts'
import { payout } from './commands/payout.ts'
import { price } from './commands/price.ts'
import { proposal } from './commands/proposal.ts'
import { report } from './commands/report.ts'
import { restore } from './commands/restore.ts'
import { shopper } from './commands/shopper.ts'
import { store } from './commands/store.ts'
import { trade } from './commands/trade.ts'
import { trigger } from './commands/trigger.ts'
import { verify } from './commands/verify.ts'
import { webhook } from './commands/webhook.ts'

const ROUTES = buildRouteMap<string, CommandLine>({
  routes: {
    find,
    overview,
    money,
    weather,
    bot,
    items,
    market,
    store,
    key,
    keyRing,
    payout,
    deposit,
    trade,
    shopper,
    webhook,
    price,
    maintenance,
    clock,
    ledger,
    report,
    backup,
    migrate,
    restore,
    operator,
    proposal,
    acts,
    verify,
    trigger,
    listen,
    doctor,
  },
  aliases: { bots: 'bot' },
  docs: { brief: "the operator's commands" },
})

export const APP = buildApplication<CommandLine>(ROUTES, {
  name: 'tradetill',
  scanner: { caseStyle: 'allow-kebab-for-camel' },
  documentation: { caseStyle: 'convert-camel-to-kebab', disableAnsiColor: true, useAliasInUsageLine: false },
  localization: {
    text: {
      ...text_en,
      headers: { ...text_en.headers, flags: 'OPTIONS' },
      briefs: { ...text_en.briefs, help: 'show this help' },
      exceptionWhileParsingArguments: mistakeOf,
      noCommandRegisteredForInput: ({ input, corrections }) =>
        `There is no command "${input}": see --help.${advice(corrections)}`,
    },
  },
})

const MISTAKES: Parameters<typeof formatMessageForArgumentScannerError>[1] = {
  ArgumentParseError: ({ externalFlagNameOrPlaceholder: name, exception }) => {
    // The library's parser of booleans throws this, with a message that repeats the value.
    const reason = exception instanceof SyntaxError ? 'takes no value' : messageOf(exception)
    return `${isFlag(name) ? `--${name}` : name} ${reason}.`
  },
  EnumValidationError: ({ externalFlagName, values }) =>
    `--${externalFlagName} must be one of ${values.join(', ')}.`,
  FlagNotFoundError: ({ input, corrections }) =>
    `There is no option --${input}: see --help.${advice(corrections.map((name) => `--${name}`))}`,
  UnexpectedPositionalError: ({ expectedCount }) =>
    expectedCount === 0
      ? 'This command takes only options: see --help.'
      : `Too many arguments: this command takes at most ${expectedCount}. See --help.`,
  UnexpectedFlagError: ({ externalFlagName }) => `--${externalFlagName} can be given only once.`,
  UnsatisfiedFlagError: ({ externalFlagName }) => `--${externalFlagName} is required, with a value.`,
  UnsatisfiedPositionalError: ({ placeholder }) => `${placeholder} is required.`,
}

/** Says what is wrong with the arguments. Never repeats a value, which may be a secret. */
function mistakeOf(error: unknown): string {
  return error instanceof ArgumentScannerError
    ? formatMessageForArgumentScannerError(error, MISTAKES)
    : messageOf(error)
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const advice = (names: readonly string[]): string =>
  names.length === 0 ? '' : ` Did you mean ${names.join(' or ')}?`

/** Names of positional arguments are in capitals; those of flags are not. */
const isFlag = (name: string): boolean => name !== name.toUpperCase()

export type CommandFacts = { name: string; does: string; command: Command<CommandLine> }

/** Returns every command of `routes`, in their order. */
export function allCommands(routes: RouteMap<CommandLine> = ROUTES, prefix = ''): CommandFacts[] {
  return routes.getAllEntries().flatMap(({ name, target }) => {
    const path = `${prefix}${name['convert-camel-to-kebab']}`
    if ('getAllEntries' in target) return allCommands(target, `${path} `)
    return [{ name: path, does: target.brief, command: target }]
  })
}

const NAME_WIDTH = 22
const SERVE = 'run the gateway until SIGTERM or Ctrl-C; its settings come from the environment'

/** Returns the general help, with a line for each command. */
export function helpOfAll(): string {
  return [
    `usage: ${PREFIX} COMMAND`,
    '',
    ...allCommands().map(({ name, does }) => `  ${name.padEnd(NAME_WIDTH)}${does}`),
    '',
    `  ${'serve'.padEnd(NAME_WIDTH)}${SERVE}`,
    `  ${'--version'.padEnd(NAME_WIDTH)}the version, the commit and the newest migration`,
    '',
    '--help after a command shows its arguments, its options and an example. --json prints one line of JSON.',
  ].join('\n')
}
