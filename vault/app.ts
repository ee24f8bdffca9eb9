/** The vault's commands. Each loads its own code only when it is run. */
import { buildApplication, buildCommand, buildRouteMap, type CommandContext, text_en } from '@stricli/core'
import { MARKETS, type MarketName } from '../contract/markets.ts'
import type { EnrolFlags } from './commands/enrol.ts'
import type { MarketFlags, SwitchFlags } from './commands/market.ts'
import type { LimitFlags } from './commands/rules.ts'
import type { Settings } from './settings.ts'
import type { Terminal } from './terminal.ts'

export type VaultContext = CommandContext & { settings: Settings; terminal: Terminal }

const parseText = (value: string): string => value

function parseWholeNumber(value: string): number {
  if (!/^\d{1,6}$/.test(value)) throw new Error('must be a whole number of at most 6 digits')
  return Number(value)
}

const run = buildCommand({
  docs: { brief: 'run the vault until SIGTERM or Ctrl-C; its settings come from the environment' },
  parameters: {},
  loader: async () => {
    const { run } = await import('./commands/run.ts')
    return async function (this: VaultContext) {
      await run(this.settings)
    }
  },
})

const enrol = buildCommand({
  docs: { brief: 'add an account that the vault may give items from; asks for its password and secrets' },
  parameters: {
    flags: {
      sells: {
        kind: 'boolean',
        brief:
          'a selling account: no wish of the till may take items from it; without the flag, a known account stays what it is',
        optional: true,
      },
    },
  },
  loader: async () => {
    const { enrol } = await import('./commands/enrol.ts')
    return async function (this: VaultContext, flags: EnrolFlags) {
      await enrol(this.settings, this.terminal, flags)
    }
  },
})

const allow = buildCommand({
  docs: { brief: 'allow items to go to this account, from the next start on' },
  parameters: {
    flags: {},
    positional: {
      kind: 'tuple',
      parameters: [
        { parse: parseText, brief: 'its name in the till, in lower case', placeholder: 'NAME' },
        { parse: parseText, brief: 'its trade link', placeholder: 'LINK' },
      ],
    },
  },
  loader: async () => {
    const { allow } = await import('./commands/rules.ts')
    return function (this: VaultContext, _flags: object, name: string, link: string) {
      allow(this.settings, this.terminal, { name, link })
    }
  },
})

const usdFlag = (brief: string) => ({ kind: 'parsed', parse: parseText, brief, placeholder: 'USD' }) as const

const limits = buildCommand({
  docs: { brief: 'set how much value and how many items may leave, from the next start on' },
  parameters: {
    flags: {
      usdAnHour: usdFlag('dollars an hour, such as 250.00'),
      usdADay: usdFlag('dollars a day'),
      itemsAnHour: { kind: 'parsed', parse: parseWholeNumber, brief: 'items an hour', placeholder: 'NUMBER' },
    },
  },
  loader: async () => {
    const { limits } = await import('./commands/rules.ts')
    return function (this: VaultContext, flags: LimitFlags) {
      limits(this.settings, this.terminal, flags)
    }
  },
})

const rules = buildCommand({
  docs: { brief: 'show destinations and limits' },
  parameters: {},
  loader: async () => {
    const { showRules } = await import('./commands/rules.ts')
    return function (this: VaultContext) {
      showRules(this.settings, this.terminal)
    }
  },
})

const approve = buildCommand({
  docs: { brief: 'approve a wish to give items back to their sender' },
  parameters: {
    flags: {
      link: {
        kind: 'parsed',
        parse: parseText,
        brief: 'the trade link of the sender',
        placeholder: 'LINK',
      },
    },
    positional: {
      kind: 'tuple',
      parameters: [{ parse: parseText, brief: 'the number of the wish', placeholder: 'WISH' }],
    },
  },
  loader: async () => {
    const { approve } = await import('./commands/approve.ts')
    return async function (this: VaultContext, { link }: { link: string }, wishId: string) {
      await approve(this.settings, this.terminal, { wishId, link })
    }
  },
})

const MARKET_PARAMETER = {
  parse: (value: string): MarketName => {
    const known = MARKETS.find((name) => name === value)
    if (known === undefined) throw new Error(`must be one of ${MARKETS.join(', ')}`)
    return known
  },
  brief: 'the market',
  placeholder: 'MARKET',
} as const

const market = buildCommand({
  docs: { brief: 'sell on a market from the next start on; asks for the key of the account there' },
  parameters: {
    flags: {
      account: {
        kind: 'parsed',
        parse: parseText,
        brief: 'the account that sells there',
        placeholder: 'STEAMID',
      },
      sellsItself: {
        kind: 'boolean',
        brief: 'let a bot that collects deposits sell its own items: the market gets one of its web sessions',
        default: false,
        withNegated: false,
      },
      mayLose: {
        kind: 'boolean',
        brief: 'also sell items for less than they cost, and (not with --sells-itself) items of unknown cost',
        default: false,
        withNegated: false,
      },
    },
    positional: { kind: 'tuple', parameters: [MARKET_PARAMETER] },
  },
  loader: async () => {
    const { addMarket } = await import('./commands/market.ts')
    return async function (this: VaultContext, flags: MarketFlags, market: MarketName) {
      await addMarket(this.settings, this.terminal, { ...flags, market })
    }
  },
})

const switchCommand = (isOff: boolean) =>
  buildCommand({
    docs: {
      brief: isOff ? 'take down all listings on a market, and list nothing' : 'list on a market again',
    },
    parameters: {
      flags: {
        account: {
          kind: 'parsed',
          parse: parseText,
          optional: true,
          brief: 'only this account',
          placeholder: 'STEAMID',
        },
      },
      positional: { kind: 'tuple', parameters: [MARKET_PARAMETER] },
    },
    loader: async () => {
      const { switchMarketAt } = await import('./commands/market.ts')
      return function (this: VaultContext, flags: SwitchFlags, market: MarketName) {
        switchMarketAt(this.settings, this.terminal, { ...flags, market, isOff })
      }
    },
  })

const markets = buildCommand({
  docs: { brief: 'show where the vault sells' },
  parameters: {},
  loader: async () => {
    const { showMarkets } = await import('./commands/market.ts')
    return function (this: VaultContext) {
      showMarkets(this.settings, this.terminal)
    }
  },
})

const log = buildCommand({
  docs: { brief: 'show what the vault did, and check its log' },
  parameters: {
    flags: {
      limit: {
        kind: 'parsed',
        parse: parseWholeNumber,
        brief: 'how many of the latest entries',
        placeholder: 'NUMBER',
        default: '50',
      },
    },
  },
  loader: async () => {
    const { showLog } = await import('./commands/log.ts')
    return function (this: VaultContext, flags: { limit: number }) {
      showLog(this.settings, this.terminal, flags)
    }
  },
})

export const APP = buildApplication<VaultContext>(
  buildRouteMap<string, VaultContext>({
    routes: {
      run,
      enrol,
      allow,
      limits,
      rules,
      approve,
      log,
      market,
      markets,
      'market-off': switchCommand(true),
      'market-on': switchCommand(false),
    },
    docs: { brief: 'the vault: the only program that gives items away' },
  }),
  {
    name: 'vault',
    scanner: { caseStyle: 'allow-kebab-for-camel' },
    documentation: { caseStyle: 'convert-camel-to-kebab', disableAnsiColor: true },
    localization: {
      text: {
        ...text_en,
        // Never prints a stack trace: it may contain a secret.
        exceptionWhileRunningCommand: (error) => (error instanceof Error ? error.message : String(error)),
      },
    },
  },
)
