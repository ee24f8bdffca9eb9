import { buildRouteMap } from '@stricli/core'
import { steamId } from '../arguments.ts'
import {
  ACT,
  type ActFlags,
  command,
  FIND,
  type FindFlags,
  SERIOUS_ACT,
  type SeriousFlags,
} from '../command.ts'
import type { Session } from '../session.ts'
import { shopperLines, shopperListLines } from '../shopper-lines.ts'

const STEAM_ID = {
  parse: steamId,
  brief: 'the 64-bit Steam id of the account',
  placeholder: 'STEAM_ID',
} as const
const ONE_ACCOUNT = { kind: 'tuple', parameters: [STEAM_ID] } as const

const deny = command({
  does: 'stop taking items from a Steam account; its open offers stay open',
  example: "shopper deny 76561198000000077 --reason 'pays with stolen items'",
  parameters: { flags: SERIOUS_ACT, positional: ONE_ACCOUNT },
  load: async () => {
    const { denyShopper } = await import('../../operations/shoppers.ts')
    return async (session: Session, flags: SeriousFlags, account: string) =>
      denyShopper(await session.actDeps(flags), account)
  },
})

const allow = command({
  does: 'let a denied account pay again',
  example: 'shopper allow 76561198000000077',
  parameters: { flags: ACT, positional: ONE_ACCOUNT },
  load: async () => {
    const { allowShopper } = await import('../../operations/shoppers.ts')
    return async (session: Session, flags: ActFlags, account: string) =>
      allowShopper(await session.actDeps(flags), account)
  },
})

const erase = command({
  does: 'erase a Steam account from all deposits that can be erased already; says what still names it',
  example: "shopper erase 76561198000000077 --reason 'asked for by mail'",
  parameters: { flags: SERIOUS_ACT, positional: ONE_ACCOUNT },
  load: async () => {
    const { eraseShopper } = await import('../../operations/shoppers.ts')
    return async (session: Session, flags: SeriousFlags, account: string) =>
      eraseShopper(await session.actDeps(flags), account)
  },
})

const show = command({
  does: 'show whether a Steam account may pay, how it is credited, and its open offers',
  example: 'shopper show 76561198000000077',
  parameters: { flags: FIND, positional: ONE_ACCOUNT },
  load: async () => {
    const { showShopper } = await import('../../operations/shoppers.ts')
    return async (session: Session, _flags: FindFlags, account: string) =>
      showShopper(await session.findDeps(), account)
  },
  lines: shopperLines,
})

const trust = command({
  does: 'let stores decide again how to credit an account that took items back',
  example: "shopper trust 76561198000000077 --reason 'the account was stolen at the time'",
  parameters: { flags: SERIOUS_ACT, positional: ONE_ACCOUNT },
  load: async () => {
    const { trustShopper } = await import('../../operations/shoppers.ts')
    return async (session: Session, flags: SeriousFlags, account: string) =>
      trustShopper(await session.actDeps(flags), account)
  },
})

const list = command({
  does: 'list denied accounts with their open offers, and accounts credited on release',
  example: 'shopper list',
  parameters: { flags: FIND },
  load: async () => {
    const { listShoppers } = await import('../../operations/shoppers.ts')
    return async (session: Session, _flags: FindFlags) => listShoppers(await session.findDeps())
  },
  lines: shopperListLines,
})

export const shopper = buildRouteMap({
  routes: { show, deny, allow, list, trust, erase },
  docs: { brief: 'Steam accounts: history, denial, credit on release, and erasure' },
})
