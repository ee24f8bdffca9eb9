/** `market …`: the outside markets on which the vault sells. */
import { buildRouteMap } from '@stricli/core'
import { text } from '../arguments.ts'
import { ACT, type ActFlags, command, FIND } from '../command.ts'
import { marketLines } from '../sale-lines.ts'
import type { Session } from '../session.ts'

const MARKET = { parse: text, brief: 'the market, such as market.csgo.com', placeholder: 'MARKET' } as const
const ONE_MARKET = { kind: 'tuple', parameters: [MARKET] } as const

const list = command({
  does: 'list the problems at the vault that need a person, and the markets with their sales under way',
  example: 'market list',
  parameters: { flags: FIND },
  load: async () => {
    const { listMarkets } = await import('../../operations/markets.ts')
    return async (session: Session) => listMarkets(await session.findDeps())
  },
  lines: marketLines,
  ifEmpty: 'The vault has reported no market, and nothing that needs a person.',
})

const off = command({
  does: 'keep the vault from listing items on a market, and take its listings down',
  example: "market off market.csgo.com --reason 'it pays late'",
  parameters: { flags: ACT, positional: ONE_MARKET },
  load: async () => {
    const { switchMarket } = await import('../../operations/markets.ts')
    return async (session: Session, flags: ActFlags, market: string) =>
      switchMarket(await session.actDeps(flags), { market, isOff: true })
  },
})

const on = command({
  does: 'let the vault sell on a market again',
  example: 'market on market.csgo.com',
  parameters: { flags: ACT, positional: ONE_MARKET },
  load: async () => {
    const { switchMarket } = await import('../../operations/markets.ts')
    return async (session: Session, flags: ActFlags, market: string) =>
      switchMarket(await session.actDeps(flags), { market, isOff: false })
  },
})

export const market = buildRouteMap({
  routes: { list, off, on },
  docs: { brief: 'the markets on which the vault sells' },
})
