import { buildRouteMap } from '@stricli/core'
import { id, text } from '../arguments.ts'
import {
  ACT,
  type ActFlags,
  command,
  FIND,
  type FindFlags,
  OF_BOT,
  SERIOUS_ACT,
  type SeriousFlags,
} from '../command.ts'
import { tradeLines } from '../lines.ts'
import type { Session } from '../session.ts'

const TRADE = { parse: id, brief: 'the number of the trade', placeholder: 'TRADE' } as const
const ONE_TRADE = { kind: 'tuple', parameters: [TRADE] } as const

const list = command({
  does: 'list the trades that are open, protected or still watched, oldest first',
  example: 'trade list --bot 1',
  parameters: {
    flags: {
      bot: OF_BOT,
      ...FIND,
    },
  },
  load: async () => {
    const { listTrades } = await import('../../operations/trades.ts')
    return async (session: Session, { bot }: FindFlags & { bot?: string }) =>
      listTrades(await session.findDeps(), bot)
  },
  lines: tradeLines,
  ifEmpty: 'No trade is open, protected or watched.',
})

const end = command({
  does: 'end a trade on which Steam is silent; later proof that its items arrived still counts',
  example: "trade end 17 --reason 'the bot is banned'",
  parameters: { flags: SERIOUS_ACT, positional: ONE_TRADE },
  load: async () => {
    const { endTrade } = await import('../../operations/trades.ts')
    return async (session: Session, flags: SeriousFlags, tradeId: bigint) =>
      endTrade(await session.actDeps(flags), tradeId)
  },
})

const STEAM_NUMBER = { kind: 'parsed', parse: text, placeholder: 'ID' } as const

const credit = command({
  does: 'credit a trade, given a Steam trade that you have seen yourself',
  example: "trade credit 17 --steam-trade 6100000000000012345 --reason 'seen in the history of the bot'",
  parameters: {
    flags: {
      steamTrade: { ...STEAM_NUMBER, brief: 'the number of the trade on Steam' },
      offer: {
        ...STEAM_NUMBER,
        brief: 'the number of the offer, if the till does not know it',
        optional: true,
      },
      ...SERIOUS_ACT,
    },
    positional: ONE_TRADE,
  },
  load: async () => {
    const { creditTrade } = await import('../../operations/trades.ts')
    type Flags = SeriousFlags & { steamTrade: string; offer?: string }
    return async (session: Session, flags: Flags, tradeId: bigint) => {
      const { steamTrade: steamTradeId, offer: offerId = null } = flags
      return creditTrade(await session.actDeps(flags), { tradeId, steamTradeId, offerId })
    }
  },
})

const release = command({
  does: 'release held credit if no bot can ask Steam; possible from a day after the trade’s protection has ended',
  example: "trade release 17 --reason 'the account is banned, and Steam says that nothing was taken back'",
  parameters: { flags: SERIOUS_ACT, positional: ONE_TRADE },
  load: async () => {
    const { releaseTrade } = await import('../../operations/trades.ts')
    return async (session: Session, flags: SeriousFlags, tradeId: bigint) =>
      releaseTrade(await session.actDeps(flags), tradeId)
  },
})

const reverse = command({
  does: 'take back the credit of a protected trade, if you know that the shopper took all items back and no bot can ask Steam',
  example: "trade reverse 17 --reason 'Steam support says that the items went back'",
  parameters: { flags: SERIOUS_ACT, positional: ONE_TRADE },
  load: async () => {
    const { reverseTrade } = await import('../../operations/trades.ts')
    return async (session: Session, flags: SeriousFlags, tradeId: bigint) =>
      reverseTrade(await session.actDeps(flags), tradeId)
  },
})

const look = command({
  does: 'ask Steam about a trade now, before the next check is due',
  example: 'trade look 17',
  parameters: { flags: ACT, positional: ONE_TRADE },
  load: async () => {
    const { lookAtTrade } = await import('../../operations/trades.ts')
    return async (session: Session, flags: ActFlags, tradeId: bigint) =>
      lookAtTrade(await session.actDeps(flags), tradeId)
  },
})

export const trade = buildRouteMap({
  routes: { list, look, end, credit, release, reverse },
  docs: { brief: 'trades: the collection of items' },
})
