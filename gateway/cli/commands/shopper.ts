/** `shopper …`: Steam accounts that may not pay. */
import { buildRouteMap } from '@stricli/core'
import { steamId } from '../arguments.ts'
import { ACT, type ActFlags, command, FIND, type FindFlags, GRAVE_ACT, type GraveFlags } from '../command.ts'
import { deniedLines } from '../lines.ts'
import type { Session } from '../session.ts'

const STEAM_ID = {
  parse: steamId,
  brief: 'the 64-bit Steam id of the account',
  placeholder: 'STEAM_ID',
} as const
const ONE_ACCOUNT = { kind: 'tuple', parameters: [STEAM_ID] } as const

const deny = command({
  does: 'take no items from a Steam account from now on',
  example: "shopper deny 76561198000000077 --reason 'pays with stolen items'",
  parameters: { flags: GRAVE_ACT, positional: ONE_ACCOUNT },
  load: async () => {
    const { denyPayer } = await import('../../operations/shoppers.ts')
    return async (session: Session, flags: GraveFlags, account: string) =>
      denyPayer(await session.act(flags), account)
  },
})

const allow = command({
  does: 'let a denied account pay again',
  example: 'shopper allow 76561198000000077',
  parameters: { flags: ACT, positional: ONE_ACCOUNT },
  load: async () => {
    const { allowPayer } = await import('../../operations/shoppers.ts')
    return async (session: Session, flags: ActFlags, account: string) =>
      allowPayer(await session.act(flags), account)
  },
})

const erase = command({
  does: 'erase a Steam account from all deposits that are over',
  example: "shopper erase 76561198000000077 --reason 'asked for by mail'",
  parameters: { flags: GRAVE_ACT, positional: ONE_ACCOUNT },
  load: async () => {
    const { erasePayer } = await import('../../operations/shoppers.ts')
    return async (session: Session, flags: GraveFlags, account: string) =>
      erasePayer(await session.act(flags), account)
  },
})

const list = command({
  does: 'show the denied accounts, and the offers to them that are open yet',
  example: 'shopper list',
  parameters: { flags: FIND },
  load: async () => {
    const { listDenied } = await import('../../operations/shoppers.ts')
    return async (session: Session, _flags: FindFlags) => listDenied(await session.find())
  },
  lines: deniedLines,
})

export const shopper = buildRouteMap({
  routes: { deny, allow, list, erase },
  docs: { brief: 'accounts that may not pay, and what is known of one' },
})
