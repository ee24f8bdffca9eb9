import { buildRouteMap } from '@stricli/core'
import { GAMES, type Game } from '../../../contract/games.ts'
import { SCOPES, type Scope } from '../../../contract/scopes.ts'
import { CENTS_PER_DOLLAR } from '../../operations/amount.ts'
import { limitUpTo, percentIn, STORE, text, wholeDollars } from '../arguments.ts'
import {
  ACT,
  type ActFlags,
  command,
  FIND,
  type FindFlags,
  PREFIX,
  SERIOUS_ACT,
  type SeriousFlags,
} from '../command.ts'
import type { Session } from '../session.ts'
import { freshStoreLines, storeLines, storeListLines, updatedStoreLines } from '../store-lines.ts'
import { Refusal } from '../terminal.ts'
import { credit, debit, report, statement, writeOff } from './store-books.ts'

const ORIGIN = {
  kind: 'parsed',
  parse: text,
  brief: 'origin of the store, such as https://host[:port]; can be given several times',
  placeholder: 'URL',
} as const

const WEBHOOK_URL = {
  kind: 'parsed',
  parse: text,
  brief: 'URL of its webhooks',
  placeholder: 'URL',
  optional: true,
} as const

const ACCENT = { kind: 'parsed', parse: text, placeholder: 'COLOUR', optional: true } as const

const RISK_LIMIT = {
  kind: 'parsed',
  parse: wholeDollars,
  brief: 'the most credit to give while Steam can still reverse the trades',
  placeholder: 'DOLLARS',
} as const

const CREDIT_MODE = {
  kind: 'enum',
  values: ['on_accept', 'on_release'],
  brief: 'on_accept: credit at once, up to the risk limit; on_release: hold it until Steam’s protection ends',
} as const

const LIABILITY = {
  kind: 'enum',
  values: ['operator', 'store'],
  brief: 'who bears the loss if credit already given is reversed',
} as const

type NewStore = {
  name: string
  origin: readonly string[]
  webhookUrl?: string
  riskLimitUsd: bigint
  creditMode: 'on_accept' | 'on_release'
  liability: 'operator' | 'store'
  accent?: string
  scope?: readonly Scope[]
}

const add = command({
  does: 'register a store; its API key and webhook secret are shown only once',
  example: "store add --name 'Ember Forge' --origin https://store.example",
  parameters: {
    flags: {
      name: { kind: 'parsed', parse: text, brief: 'its name, as shoppers see it', placeholder: 'NAME' },
      origin: { ...ORIGIN, variadic: true },
      webhookUrl: WEBHOOK_URL,
      riskLimitUsd: { ...RISK_LIMIT, default: '0' },
      creditMode: { ...CREDIT_MODE, default: 'on_accept' },
      liability: { ...LIABILITY, default: 'operator' },
      accent: {
        ...ACCENT,
        brief: "colour of the main buttons and marks on its shoppers' page, such as '#3366cc'",
      },
      scope: {
        kind: 'enum',
        values: SCOPES,
        brief: 'a scope of its key; can be given several times; default: deposits:read and deposits:write',
        optional: true,
        variadic: true,
      },
      ...ACT,
    },
  },
  load: async () => {
    const { addStore } = await import('../../operations/stores.ts')
    return async (session: Session, flags: ActFlags & NewStore) => {
      const { name, origin, webhookUrl, riskLimitUsd, creditMode, liability, accent, scope } = flags
      return addStore(await session.actDeps(flags), {
        name,
        origins: [...origin],
        riskLimitUsdCents: riskLimitUsd * CENTS_PER_DOLLAR,
        creditMode,
        liability,
        ...(webhookUrl === undefined ? {} : { webhookUrl }),
        ...(scope === undefined ? {} : { scopes: scope }),
        ...accentOf(accent),
      })
    }
  },
  lines: freshStoreLines,
})

/** `none` restores the page's default colour. */
const accentOf = (accent: string | undefined): { accent?: string | null } =>
  accent === undefined ? {} : { accent: accent === 'none' ? null : accent }

type Changes = {
  store: bigint
  name?: string
  origin?: readonly string[]
  webhookUrl?: string
  riskLimitUsd?: bigint
  creditMode?: 'on_accept' | 'on_release'
  liability?: 'operator' | 'store'
  commission?: string
  game?: readonly Game[]
  allGames?: boolean
  accent?: string
}

const update = command({
  does: 'change one or more settings of a store',
  example: 'store update --store 1 --risk-limit-usd 2500 --commission 24.50',
  parameters: {
    flags: {
      store: { ...STORE, kind: 'parsed' },
      name: {
        kind: 'parsed',
        parse: text,
        brief: 'its name, as shoppers see it',
        placeholder: 'NAME',
        optional: true,
      },
      origin: {
        ...ORIGIN,
        brief: `${ORIGIN.brief}; replaces all earlier origins`,
        variadic: true,
        optional: true,
      },
      webhookUrl: {
        ...WEBHOOK_URL,
        brief: 'URL of its first webhook endpoint, which is added if it has none',
      },
      riskLimitUsd: { ...RISK_LIMIT, optional: true },
      creditMode: { ...CREDIT_MODE, optional: true },
      liability: { ...LIABILITY, optional: true },
      commission: {
        kind: 'parsed',
        parse: text,
        brief: 'your commission in percent, such as 24.50; "none" restores the default of the settings',
        placeholder: 'PERCENT',
        optional: true,
      },
      game: {
        kind: 'enum',
        values: GAMES,
        brief: 'a game that it accepts; can be given several times; replaces all earlier games',
        optional: true,
        variadic: true,
      },
      allGames: { kind: 'boolean', brief: 'accept all games', optional: true, withNegated: false },
      accent: { ...ACCENT, brief: "another colour, such as '#3366cc'; 'none' restores the page's own" },
      ...ACT,
    },
  },
  load: async () => {
    const { changeStore } = await import('../../operations/stores.ts')
    return async (session: Session, flags: ActFlags & Changes) => {
      const {
        store: storeId,
        name,
        origin,
        webhookUrl,
        riskLimitUsd,
        creditMode,
        liability,
        commission,
      } = flags
      const { game, allGames = false, accent } = flags
      if (game !== undefined && allGames) throw new Refusal('usage', 'Give either --game or --all-games.')
      const changes = {
        name,
        origins: origin && [...origin],
        webhookUrl,
        riskLimitUsdCents: riskLimitUsd && riskLimitUsd * CENTS_PER_DOLLAR,
        creditMode,
        liability,
        commissionBps: commission === undefined ? undefined : percentIn(commission),
        games: allGames ? null : game,
        ...accentOf(accent),
      }
      return changeStore(await session.actDeps(flags), { storeId, ...changes })
    }
  },
  lines: updatedStoreLines,
})

const MOST_LISTED = 500

type ListFlags = FindFlags & { disabled?: boolean; after?: bigint; limit: number }

const list = command({
  does: 'list the stores with their balances and the used part of their risk limits',
  example: 'store list',
  parameters: {
    flags: {
      disabled: {
        kind: 'boolean',
        brief: 'only disabled stores',
        optional: true,
        withNegated: false,
      },
      after: {
        ...STORE,
        kind: 'parsed',
        brief: 'the next page: the number at the end of the previous one',
        optional: true,
      },
      limit: limitUpTo(MOST_LISTED),
      ...FIND,
    },
  },
  load: async () => {
    const { listStores } = await import('../../operations/stores.ts')
    return async (session: Session, { disabled, after, limit }: ListFlags) =>
      listStores(await session.findDeps(), { isDisabled: disabled, after, limit })
  },
  lines: storeListLines,
  ifEmpty: `No stores. Register one: ${PREFIX} store add --name NAME --origin URL`,
})

const disable = command({
  does: 'keep a store from opening deposits and taking items; trades under way continue',
  example: "store disable 1 --reason 'its contract ended'",
  parameters: { flags: SERIOUS_ACT, positional: { kind: 'tuple', parameters: [STORE] } },
  load: async () => {
    const { disableStore } = await import('../../operations/stores.ts')
    return async (session: Session, flags: SeriousFlags, storeId: bigint) =>
      disableStore(await session.actDeps(flags), storeId)
  },
})

const enable = command({
  does: 'let a disabled store open deposits again',
  example: 'store enable 1',
  parameters: { flags: ACT, positional: { kind: 'tuple', parameters: [STORE] } },
  load: async () => {
    const { enableStore } = await import('../../operations/stores.ts')
    return async (session: Session, flags: ActFlags, storeId: bigint) =>
      enableStore(await session.actDeps(flags), storeId)
  },
})

const show = command({
  does: 'show the settings, keys, endpoints and balances of a store',
  example: 'store show 1',
  parameters: { flags: FIND, positional: { kind: 'tuple', parameters: [STORE] } },
  load: async () => {
    const { showStore } = await import('../../operations/stores.ts')
    return async (session: Session, _flags: FindFlags, storeId: bigint) =>
      showStore(await session.findDeps(), storeId)
  },
  lines: storeLines,
})

const freeRoom = command({
  does: 'free the part of a store’s risk limit that reversals use, without waiting until their 30 days end',
  example: "store free-room --store 1 --reason 'the shopper is denied now'",
  parameters: { flags: { store: { ...STORE, kind: 'parsed' }, ...SERIOUS_ACT } },
  load: async () => {
    const operations = await import('../../operations/room.ts')
    return async (session: Session, flags: SeriousFlags & { store: bigint }) =>
      operations.freeRoom(await session.actDeps(flags), flags.store)
  },
})

const ADDRESS = {
  kind: 'parsed',
  parse: text,
  brief: 'host and port of the webhook URL',
  placeholder: 'HOST:PORT',
} as const

const allowAddress = command({
  does: 'allow the webhooks of a store to use another port, or reach your own network',
  example: 'store allow-address --store 1 --address localhost:8080',
  parameters: {
    flags: {
      store: { ...STORE, kind: 'parsed' },
      address: ADDRESS,
      inside: {
        kind: 'boolean',
        brief: 'the name may resolve to private addresses; implied for localhost and private addresses',
        default: false,
        withNegated: false,
      },
      ...ACT,
    },
  },
  load: async () => {
    const { allowWebhookAddress } = await import('../../operations/webhook-addresses.ts')
    return async (
      session: Session,
      flags: ActFlags & { store: bigint; address: string; inside: boolean },
    ) => {
      const { store: storeId, address, inside } = flags
      return allowWebhookAddress(await session.actDeps(flags), { storeId, address, inside })
    }
  },
})

const forbidAddress = command({
  does: 'close an address that allow-address opened',
  example: 'store forbid-address --store 1 --address localhost:8080',
  parameters: { flags: { store: { ...STORE, kind: 'parsed' }, address: ADDRESS, ...ACT } },
  load: async () => {
    const { forbidWebhookAddress } = await import('../../operations/webhook-addresses.ts')
    return async (session: Session, flags: ActFlags & { store: bigint; address: string }) => {
      const { store: storeId, address } = flags
      return forbidWebhookAddress(await session.actDeps(flags), { storeId, address })
    }
  },
})

export const store = buildRouteMap({
  routes: {
    list,
    add,
    update,
    show,
    disable,
    enable,
    statement,
    report,
    credit,
    debit,
    writeOff,
    allowAddress,
    forbidAddress,
    freeRoom,
  },
  docs: { brief: 'the stores, their settings and their money' },
})
