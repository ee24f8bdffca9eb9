/** `bot …`: enrolling bots and what becomes of them. */
import { parseArgs } from 'node:util'
import { actOnBot, type BotAct } from '../bots/operator.ts'
import { type AddBotAnswer, addBot, listBots } from '../bots/service.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../kit/clock.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import { createLiveAgent, createSandboxAgent } from '../steam/agent.ts'
import type { TokenAnswer } from '../steam/enrol.ts'
import { createLoadedSteam } from '../steam/loaded.ts'
import type { Steam } from '../steam/steam.ts'
import type { Context, Run } from './commands.ts'
import { Refusal, type Terminal } from './terminal.ts'

const DAY_MS = 86_400_000
const SHARED_SECRET = /^[A-Za-z0-9+/]{27}=$/

function steamOf({ mode, steamSandboxUrl }: Config, clock: Clock): Steam {
  if (steamSandboxUrl === undefined) return createLoadedSteam()
  const base = new URL(steamSandboxUrl).origin
  return createLoadedSteam({
    redirect: createSandboxAgent(mode, base),
    imageBase: base,
    communityBase: base,
    clock,
  })
}

function add({ config, db, clock }: Context, refreshToken: string): Promise<AddBotAnswer> {
  const box = createSecretBox(config.masterKey)
  return addBot({ db, steam: steamOf(config, clock), box, clock, refreshToken })
}

/** True when the bot was added. */
function tell(terminal: Terminal, answer: AddBotAnswer): boolean {
  if (answer.kind !== 'added') {
    const detail = answer.kind === 'unavailable' ? `: ${answer.detail}` : ''
    terminal.warn(`a bot was not added: ${answer.reason}${detail}`)
    return false
  }
  const end = answer.tokenExpiresAt ? `, token good until ${dayOf(answer.tokenExpiresAt)}` : ''
  terminal.print(`bot ${answer.botId} added: ${answer.name} (${answer.steamId})${end}`)
  if (!answer.protectionAcknowledged) {
    terminal.warn('Steam did not take the notice about trade protection; the gateway tries again.')
  }
  return true
}

/** `bot add`: enrols by refresh tokens on stdin, one a line. */
export async function addBots(context: Context): Promise<void> {
  let failed = 0
  for await (const refreshToken of context.terminal.lines()) {
    if (!tell(context.terminal, await add(context, refreshToken))) failed += 1
  }
  if (failed > 0) throw new Refusal(`${failed} not added. Check the token, or try again once Steam answers.`)
}

const WHY: Record<Extract<TokenAnswer, { kind: 'refused' }>['reason'], string> = {
  wrong_password: 'Steam does not know this account name with this password.',
  wrong_code: 'Steam did not take the code of the authenticator.',
  not_confirmed: 'The login was not confirmed in time.',
}

/** `bot enrol [--phone]`: logs in once for a refresh token, and enrols by it. */
export async function enrolBot(context: Context, args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { phone: { type: 'boolean', default: false } } })
  const { config, terminal } = context
  const { mode, steamSandboxUrl } = config
  const { obtainToken } = await import('../steam/enrol.ts')
  const agent = steamSandboxUrl === undefined ? createLiveAgent() : createSandboxAgent(mode, steamSandboxUrl)
  const answer = values.phone
    ? await obtainToken(agent, {
        by: 'phone',
        show: (url) =>
          terminal.print(`Open this with the Steam app on the bot's phone and approve:\n  ${url}`),
      })
    : await askAndObtain(terminal, agent)
  if (answer.kind === 'refused') throw new Refusal(WHY[answer.reason])
  if (answer.kind === 'unavailable') throw new Refusal(`Steam did not log in: ${answer.detail}`)
  if (!tell(terminal, await add(context, answer.refreshToken)))
    throw new Refusal('Try again once Steam answers.')
}

async function askAndObtain(
  terminal: Terminal,
  agent: ReturnType<typeof createLiveAgent>,
): Promise<TokenAnswer> {
  const [{ obtainToken }, { generateAuthCode }] = await Promise.all([
    import('../steam/enrol.ts'),
    import('steam-totp'),
  ])
  const questions = terminal.openQuestions()
  try {
    return await obtainToken(agent, {
      by: 'password',
      accountName: (await questions.ask('Account name: ')).trim(),
      password: await questions.ask('Password: ', { hidden: true }),
      async code() {
        const said = await questions.ask('Code of the authenticator, or its shared secret: ', {
          hidden: true,
        })
        return SHARED_SECRET.test(said.trim()) ? generateAuthCode(said.trim()) : said
      },
    })
  } finally {
    questions.close()
  }
}

/** `bot list`. */
export async function showBots({ db, clock, terminal }: Context): Promise<void> {
  for (const bot of await listBots(db)) {
    const reach = bot.reachable ? 'online' : `offline (${bot.stateReason ?? 'no gateway holds it'})`
    const token = bot.tokenExpiresAt ? `token until ${dayOf(bot.tokenExpiresAt)}` : 'token without an end'
    const soon =
      bot.tokenExpiresAt && bot.tokenExpiresAt.getTime() - clock.now().getTime() < 14 * DAY_MS
        ? ' (soon)'
        : ''
    const facts = [bot.botId, bot.state, reach, `level ${bot.level}`, `${bot.itemsHeld} items`, token + soon]
    terminal.print([...facts, bot.steamId, bot.name].join('\t'))
  }
}

const DONE: Record<BotAct, string> = {
  pause: 'collects nothing new; what is under way goes on',
  resume: 'collects again',
  remove: 'is removed with its token',
}

const NOT_DONE = {
  unknown_bot: 'There is no such bot: see bot list.',
  dead: 'Steam refuses its token: enrol it again, or remove it.',
  busy: 'It has open offers, or items that Steam still protects. Pause it and try again later.',
}

/** `bot pause|resume|remove BOT`. */
export function changeBot(act: BotAct): Run {
  return async ({ db, terminal }, [which = '']) => {
    const answer = await actOnBot(db, which, act)
    if (answer.kind === 'refused') throw new Refusal(NOT_DONE[answer.reason])
    terminal.print(`bot ${which} (${answer.name}) ${DONE[act]}`)
  }
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10)
}
