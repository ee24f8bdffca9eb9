/** `bot …`: enrolling bots, and what becomes of them. */
import { buildRouteMap } from '@stricli/core'
import { text } from '../arguments.ts'
import { ACT, type ActFlags, command, FIND, type FindFlags, GRAVE_ACT, type GraveFlags } from '../command.ts'
import { addedBotLines, botLines } from '../lines.ts'
import type { Session } from '../session.ts'

const BOT = { parse: text, brief: 'the number of the bot, or its Steam id', placeholder: 'BOT' } as const
const ONE_BOT = { kind: 'tuple', parameters: [BOT] } as const

const enrol = command({
  does: 'enrol a bot: asks for account name, password and code; or the Steam app approves',
  example: 'bot enrol --phone',
  parameters: {
    flags: {
      phone: {
        kind: 'boolean',
        brief: 'the Steam app approves: print the address that it must open',
        optional: true,
        withNegated: false,
      },
      ...ACT,
    },
  },
  load: async () => {
    const { enrolByLogin } = await import('../enrol.ts')
    return (session: Session, flags: ActFlags & { phone?: boolean }) => enrolByLogin(session, flags)
  },
})

const add = command({
  does: 'enrol bots: refresh tokens on stdin, one a line',
  example: 'bot add < refresh-tokens.txt',
  parameters: { flags: ACT },
  load: async () => {
    const { addBots } = await import('../../operations/enrolment.ts')
    return async (session: Session, flags: ActFlags) =>
      addBots(await session.act(flags), session.terminal.lines())
  },
  lines: addedBotLines,
})

const list = command({
  does: 'show every bot, whether it can be reached, its items and the end of its token',
  example: 'bot list',
  parameters: { flags: FIND },
  load: async () => {
    const { listBots } = await import('../../operations/bots.ts')
    return async (session: Session, _flags: FindFlags) => listBots(await session.find())
  },
  lines: botLines,
})

const pause = command({
  does: 'keep a bot from new trades; what is under way goes on',
  example: "bot pause 1 --reason 'moving its items'",
  parameters: { flags: ACT, positional: ONE_BOT },
  load: async () => {
    const { pauseBot } = await import('../../operations/bots.ts')
    return async (session: Session, flags: ActFlags, bot: string) => pauseBot(await session.act(flags), bot)
  },
})

const resume = command({
  does: 'let a paused bot collect again',
  example: 'bot resume 1',
  parameters: { flags: ACT, positional: ONE_BOT },
  load: async () => {
    const { resumeBot } = await import('../../operations/bots.ts')
    return async (session: Session, flags: ActFlags, bot: string) => resumeBot(await session.act(flags), bot)
  },
})

const remove = command({
  does: 'remove a bot and its token, once none of its trades must be watched',
  example: "bot remove 1 --reason 'account sold'",
  parameters: { flags: GRAVE_ACT, positional: ONE_BOT },
  load: async () => {
    const { removeBot } = await import('../../operations/bots.ts')
    return async (session: Session, flags: GraveFlags, bot: string) =>
      removeBot(await session.act(flags), bot)
  },
})

const retire = command({
  does: 'take out a bot that will never be back: its open trades end, its held credit waits for you',
  example: "bot retire 1 --reason 'banned by Steam'",
  parameters: { flags: GRAVE_ACT, positional: ONE_BOT },
  load: async () => {
    const { retireBot } = await import('../../operations/bots.ts')
    return async (session: Session, flags: GraveFlags, bot: string) =>
      retireBot(await session.act(flags), bot)
  },
})

export const bot = buildRouteMap({
  routes: { enrol, add, list, pause, resume, retire, remove },
  docs: { brief: 'the Steam accounts that collect items' },
})
