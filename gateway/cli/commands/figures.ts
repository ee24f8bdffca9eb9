/** `overview`, `money` and `weather`: the operator's daily figures. */
import { text } from '../arguments.ts'
import { command, FIND, type FindFlags, OF_BOT } from '../command.ts'
import { moneyLines, overviewLines, weatherLines } from '../figure-lines.ts'
import type { Session } from '../session.ts'

export const overview = command({
  does: 'show what needs you, the figures of the last 24 hours, and where shoppers leave',
  example: 'overview',
  parameters: { flags: FIND },
  load: async () => {
    const { showOverview } = await import('../../operations/overview.ts')
    return async (session: Session, _flags: FindFlags) => showOverview(await session.findDeps())
  },
  lines: overviewLines,
})

export const money = command({
  does: 'show the balances of all stores, credit at risk, your own accounts, and the check of the ledger',
  example: 'money',
  parameters: { flags: FIND },
  load: async () => {
    const { showMoney } = await import('../../operations/overview.ts')
    return async (session: Session, _flags: FindFlags) => showMoney(await session.findDeps())
  },
  lines: moneyLines,
})

type WeatherFlags = FindFlags & { method?: string; bot?: string }

export const weather = command({
  does: 'show outages, maintenance, and how Steam answered in the last 24 hours, by method',
  example: 'weather --method GetTradeOffers',
  parameters: {
    flags: {
      method: {
        kind: 'parsed',
        parse: text,
        brief: 'also show the calls of this method, by bot',
        placeholder: 'METHOD',
        optional: true,
      },
      bot: OF_BOT,
      ...FIND,
    },
  },
  load: async () => {
    const { showWeather } = await import('../../operations/overview.ts')
    return async (session: Session, { method, bot }: WeatherFlags) =>
      showWeather(await session.findDeps(), { method, bot })
  },
  lines: weatherLines,
})
