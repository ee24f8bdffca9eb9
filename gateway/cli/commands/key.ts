/** `key …`: API keys of stores. */
import { buildRouteMap } from '@stricli/core'
import { MOST_KEY_OVERLAP_HOURS } from '../../../contract/limits.ts'
import { DEFAULT_SCOPES, SCOPES, type Scope } from '../../../contract/scopes.ts'
import { STORE, text, wholeUpTo } from '../arguments.ts'
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
import { keyOnly } from '../lines.ts'
import type { Session } from '../session.ts'
import { keyListLines } from '../store-lines.ts'

const KEY = {
  parse: text,
  brief: 'the eight characters after tt_test_ or tt_live_',
  placeholder: 'KEY',
} as const

const add = command({
  does: 'make another key for a store; the key is shown only once',
  example: "key add --store 1 --name 'reporting' --scope deposits:read --expires 90d",
  parameters: {
    flags: {
      store: { ...STORE, kind: 'parsed' },
      name: { kind: 'parsed', parse: text, brief: 'what the key is for', placeholder: 'NAME' },
      scope: {
        kind: 'enum',
        values: SCOPES,
        brief:
          'what the key may do; can be given several times; default: deposits:read and deposits:write, which a store needs',
        optional: true,
        variadic: true,
      },
      expires: {
        kind: 'parsed',
        parse: text,
        brief: 'how long the key works, such as 90d; default: until it is revoked',
        placeholder: 'DURATION',
        optional: true,
      },
      ...ACT,
    },
  },
  load: async () => {
    const { addKey } = await import('../../operations/keys.ts')
    return async (
      session: Session,
      flags: ActFlags & { store: bigint; name: string; scope?: readonly Scope[]; expires?: string },
    ) => {
      const { store: storeId, name, scope: scopes = DEFAULT_SCOPES, expires } = flags
      return addKey(await session.actDeps(flags), { storeId, name, scopes, expires })
    }
  },
  lines: keyOnly,
})

const rotate = command({
  does: 'replace a key with one like it; both work for a while; the new key is shown only once',
  example: 'key rotate 4fz81k0c --overlap-hours 48',
  parameters: {
    flags: {
      overlapHours: {
        kind: 'parsed',
        parse: wholeUpTo(MOST_KEY_OVERLAP_HOURS),
        brief: 'how long the old key keeps working',
        placeholder: 'HOURS',
        default: '24',
      },
      ...ACT,
    },
    positional: { kind: 'tuple', parameters: [KEY] },
  },
  load: async () => {
    const { rotateKey } = await import('../../operations/keys.ts')
    return async (session: Session, flags: ActFlags & { overlapHours: number }, keyId: string) =>
      rotateKey(await session.actDeps(flags), { keyId, overlapHours: flags.overlapHours })
  },
  lines: keyOnly,
})

const revoke = command({
  does: 'revoke a key at once',
  example: "key revoke 4fz81k0c --reason 'found in a repository'",
  parameters: { flags: SERIOUS_ACT, positional: { kind: 'tuple', parameters: [KEY] } },
  load: async () => {
    const { revokeKey } = await import('../../operations/keys.ts')
    return async (session: Session, flags: SeriousFlags, keyId: string) =>
      revokeKey(await session.actDeps(flags), keyId)
  },
})

const list = command({
  does: 'list the keys of a store, with their last use',
  example: 'key list --store 1',
  parameters: { flags: { store: { ...STORE, kind: 'parsed' }, ...FIND } },
  load: async () => {
    const { listKeys } = await import('../../operations/keys.ts')
    return async (session: Session, { store }: FindFlags & { store: bigint }) =>
      listKeys(await session.findDeps(), store)
  },
  lines: keyListLines,
  ifEmpty: `No keys. Make one: ${PREFIX} key add --store STORE --name NAME`,
})

export const key = buildRouteMap({
  routes: { list, add, rotate, revoke },
  docs: { brief: 'API keys of stores' },
})
