/** `store …`. */
import { buildRouteMap } from '@stricli/core'
import { SCOPES, type Scope } from '../../../contract/scopes.ts'
import { STORE, text, wholeDollars } from '../arguments.ts'
import { ACT, type ActFlags, command, FIND, type FindFlags, GRAVE_ACT, type GraveFlags } from '../command.ts'
import { freshStoreLines, storeLines, updatedStoreLines } from '../lines.ts'
import type { Session } from '../session.ts'

const ORIGIN = {
  kind: 'parsed',
  parse: text,
  brief: 'https://host[:port] of the store',
  placeholder: 'URL',
} as const

const WEBHOOK_URL = {
  kind: 'parsed',
  parse: text,
  brief: 'https address of its webhooks',
  placeholder: 'URL',
  optional: true,
} as const

const ACCENT = { kind: 'parsed', parse: text, placeholder: 'COLOUR', optional: true } as const

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
  does: 'register a store; shows its API key and webhook secret once',
  example: "store add --name 'Ember Forge' --origin https://store.example",
  parameters: {
    flags: {
      name: { kind: 'parsed', parse: text, brief: 'its name, as shoppers see it', placeholder: 'NAME' },
      origin: { ...ORIGIN, variadic: true },
      webhookUrl: WEBHOOK_URL,
      riskLimitUsd: {
        kind: 'parsed',
        parse: wholeDollars,
        brief: 'what may be credited while Steam can still take it back',
        placeholder: 'DOLLARS',
        default: '0',
      },
      creditMode: {
        kind: 'enum',
        values: ['on_accept', 'on_release'],
        brief: 'on_release holds every credit',
        default: 'on_accept',
      },
      liability: {
        kind: 'enum',
        values: ['operator', 'store'],
        brief: 'who bears reversals of what was credited',
        default: 'operator',
      },
      accent: { ...ACCENT, brief: "colour of the main things on its shoppers' page, such as '#3366cc'" },
      scope: {
        kind: 'enum',
        values: SCOPES,
        brief: 'what its key may do; default: deposits:read and deposits:write',
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
      return addStore(await session.act(flags), {
        name,
        origins: [...origin],
        riskLimitUsdCents: riskLimitUsd * 100n,
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

/** `none` gives the page its own colour back. */
const accentOf = (accent: string | undefined): { accent?: string | null } =>
  accent === undefined ? {} : { accent: accent === 'none' ? null : accent }

type Changes = { id: bigint; origin?: readonly string[]; webhookUrl?: string; accent?: string }

const update = command({
  does: 'give a store other origins, its first endpoint another address, or its page another colour',
  example: "store update --id 1 --accent '#3366cc'",
  parameters: {
    flags: {
      id: { ...STORE, kind: 'parsed' },
      origin: { ...ORIGIN, variadic: true, optional: true },
      webhookUrl: WEBHOOK_URL,
      accent: { ...ACCENT, brief: "another colour, such as '#3366cc'; none for the page's own" },
      ...ACT,
    },
  },
  load: async () => {
    const { changeStore } = await import('../../operations/stores.ts')
    return async (session: Session, flags: ActFlags & Changes) => {
      const { id: storeId, origin = [], webhookUrl, accent } = flags
      return changeStore(await session.act(flags), {
        storeId,
        origins: [...origin],
        ...(webhookUrl === undefined ? {} : { webhookUrl }),
        ...accentOf(accent),
      })
    }
  },
  lines: updatedStoreLines,
})

const show = command({
  does: 'show the settings, keys, endpoints and balances of a store',
  example: 'store show 1',
  parameters: { flags: FIND, positional: { kind: 'tuple', parameters: [STORE] } },
  load: async () => {
    const { showStore } = await import('../../operations/stores.ts')
    return async (session: Session, _flags: FindFlags, storeId: bigint) =>
      showStore(await session.find(), storeId)
  },
  lines: storeLines,
})

const freeRoom = command({
  does: 'free what reversals took of the limit of a store, before their 30 days are over',
  example: "store free-room --id 1 --reason 'the shopper was barred'",
  parameters: { flags: { id: { ...STORE, kind: 'parsed' }, ...GRAVE_ACT } },
  load: async () => {
    const operations = await import('../../operations/room.ts')
    return async (session: Session, flags: GraveFlags & { id: bigint }) =>
      operations.freeRoom(await session.act(flags), flags.id)
  },
})

const ADDRESS = { kind: 'parsed', parse: text, brief: 'its address', placeholder: 'HOST:PORT' } as const

const allowAddress = command({
  does: 'let the webhooks of a store go to another port, or into your own network',
  example: 'store allow-address --id 1 --address localhost:8080',
  parameters: {
    flags: {
      id: { ...STORE, kind: 'parsed' },
      address: ADDRESS,
      inside: {
        kind: 'boolean',
        brief: 'its name may lead to private addresses; so do localhost and a private address itself',
        default: false,
        withNegated: false,
      },
      ...ACT,
    },
  },
  load: async () => {
    const { allowWebhookAddress } = await import('../../operations/webhook-addresses.ts')
    return async (session: Session, flags: ActFlags & { id: bigint; address: string; inside: boolean }) => {
      const { id: storeId, address, inside } = flags
      return allowWebhookAddress(await session.act(flags), { storeId, address, inside })
    }
  },
})

const forbidAddress = command({
  does: 'take back what allow-address opened',
  example: 'store forbid-address --id 1 --address localhost:8080',
  parameters: { flags: { id: { ...STORE, kind: 'parsed' }, address: ADDRESS, ...ACT } },
  load: async () => {
    const { forbidWebhookAddress } = await import('../../operations/webhook-addresses.ts')
    return async (session: Session, flags: ActFlags & { id: bigint; address: string }) => {
      const { id: storeId, address } = flags
      return forbidWebhookAddress(await session.act(flags), { storeId, address })
    }
  },
})

export const store = buildRouteMap({
  routes: { add, update, show, allowAddress, forbidAddress, freeRoom },
  docs: { brief: 'the stores that are credited' },
})
