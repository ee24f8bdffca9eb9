/** `bot …`: the Steam accounts that collect items. */
import { buildRouteMap } from '@stricli/core'
import type { HoldCheck } from '../../operations/enrolment.ts'
import { text, tradeLink } from '../arguments.ts'
import { botViewLines } from '../bot-lines.ts'
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
import { addedBotLines, botLines, renewedBotLines } from '../lines.ts'
import type { Session } from '../session.ts'

const BOT = { parse: text, brief: 'the number of the bot, or its Steam id', placeholder: 'BOT' } as const
const ONE_BOT = { kind: 'tuple', parameters: [BOT] } as const

const CHECK = {
  checkWith: {
    kind: 'parsed',
    parse: tradeLink,
    brief: "another account's trade link, used to ask Steam whether it would hold the bot's trades",
    placeholder: 'TRADE_LINK',
    optional: true,
  },
} as const

const enrol = command({
  does: 'enrol a bot: asks for account name, password and code, or for approval in the Steam app',
  example: 'bot enrol --phone',
  parameters: {
    flags: {
      phone: {
        kind: 'boolean',
        brief: 'approve in the Steam app: prints the QR code to scan',
        optional: true,
        withNegated: false,
      },
      ...CHECK,
      ...ACT,
    },
  },
  load: async () => {
    const { enrolByLogin } = await import('../enrol.ts')
    return (session: Session, flags: ActFlags & HoldCheck & { phone?: boolean }) =>
      enrolByLogin(session, flags)
  },
})

const add = command({
  does: 'enrol bots from refresh tokens on stdin, one per line',
  example: 'bot add < refresh-tokens.txt',
  parameters: { flags: { ...CHECK, ...ACT } },
  load: async () => {
    const { addBots } = await import('../../operations/enrolment.ts')
    return async (session: Session, { checkWith, ...flags }: ActFlags & HoldCheck) =>
      addBots(await session.actDeps(flags), session.terminal.lines(), { checkWith })
  },
  lines: addedBotLines,
})

const renew = command({
  does: 'renew tokens, approved in the Steam app of each bot; without BOT, those of dead bots and those that expire within 30 days',
  example: 'bot renew',
  parameters: { flags: ACT, positional: { kind: 'array', parameter: BOT } },
  load: async () => {
    const { renewByPhone } = await import('../renew.ts')
    return (session: Session, flags: ActFlags, ...bots: string[]) => renewByPhone(session, flags, bots)
  },
  lines: renewedBotLines,
})

const list = command({
  does: 'list the bots: whether each is online, its items, and when its token expires',
  example: 'bot list',
  parameters: { flags: FIND },
  load: async () => {
    const { listBots } = await import('../../operations/bots.ts')
    return async (session: Session, _flags: FindFlags) => listBots(await session.findDeps())
  },
  lines: botLines,
  ifEmpty: `No bots. Enrol one: ${PREFIX} bot enrol --phone`,
})

const show = command({
  does: 'show one bot: how many items of each game it can still take, open offers, the last hour’s refusals and calls',
  example: 'bot show 1',
  parameters: { flags: FIND, positional: ONE_BOT },
  load: async () => {
    const { showBot } = await import('../../operations/bot-view.ts')
    return async (session: Session, _flags: FindFlags, bot: string) => showBot(await session.findDeps(), bot)
  },
  lines: botViewLines,
})

const pause = command({
  does: 'stop giving a bot new trades; trades under way continue',
  example: "bot pause 1 --reason 'moving its items'",
  parameters: { flags: ACT, positional: ONE_BOT },
  load: async () => {
    const { pauseBot } = await import('../../operations/bots.ts')
    return async (session: Session, flags: ActFlags, bot: string) =>
      pauseBot(await session.actDeps(flags), bot)
  },
})

const resume = command({
  does: 'let a bot that is paused or resting take new trades again',
  example: 'bot resume 1',
  parameters: { flags: ACT, positional: ONE_BOT },
  load: async () => {
    const { resumeBot } = await import('../../operations/bots.ts')
    return async (session: Session, flags: ActFlags, bot: string) =>
      resumeBot(await session.actDeps(flags), bot)
  },
})

const remove = command({
  does: 'remove a bot and its token; refused while any of its trades must be watched',
  example: "bot remove 1 --reason 'account sold'",
  parameters: { flags: SERIOUS_ACT, positional: ONE_BOT },
  load: async () => {
    const { removeBot } = await import('../../operations/bots.ts')
    return async (session: Session, flags: SeriousFlags, bot: string) =>
      removeBot(await session.actDeps(flags), bot)
  },
})

const retire = command({
  does: 'retire a bot that will not come back: ends its open trades; you then release or reverse its held credit',
  example: "bot retire 1 --reason 'banned by Steam'",
  parameters: { flags: SERIOUS_ACT, positional: ONE_BOT },
  load: async () => {
    const { retireBot } = await import('../../operations/bots.ts')
    return async (session: Session, flags: SeriousFlags, bot: string) =>
      retireBot(await session.actDeps(flags), bot)
  },
})

const disarm = command({
  does: 'keep every gateway on this database from using the bots, for example if it is a copy',
  example: "bot disarm --reason 'a copy for tests'",
  parameters: { flags: ACT },
  load: async () => {
    const { setBotsArmed } = await import('../../operations/restore.ts')
    return async (session: Session, flags: ActFlags) => setBotsArmed(await session.actDeps(flags), false)
  },
})

const arm = command({
  does: 'let gateways use the bots again',
  example: 'bot arm',
  parameters: { flags: ACT },
  load: async () => {
    const { setBotsArmed } = await import('../../operations/restore.ts')
    return async (session: Session, flags: ActFlags) => setBotsArmed(await session.actDeps(flags), true)
  },
})

export const bot = buildRouteMap({
  routes: { enrol, add, renew, list, show, pause, resume, retire, remove, disarm, arm },
  docs: { brief: 'the Steam accounts that collect items' },
})
