/** `bot …`: enrolling bots and what becomes of them. */
import { parseArgs } from 'node:util'
import { generateAuthCode } from 'steam-totp'
import { actOnBot, type BotAct } from '../bots/operator.ts'
import { type AddBotAnswer, addBot, listBots } from '../bots/service.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/client.ts'
import { systemClock } from '../kit/clock.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import { createLiveAgent, createSandboxAgent } from '../steam/agent.ts'
import { obtainToken, type TokenAnswer } from '../steam/enrol.ts'
import type { Steam } from '../steam/steam.ts'
import { createWebSteam } from '../steam/web.ts'
import { inputLines, openQuestions, Refusal } from './terminal.ts'

type Context = { config: Config; db: Db }

const DAY_MS = 86_400_000
const SHARED_SECRET = /^[A-Za-z0-9+/]{27}=$/

function steamOf({ mode, steamSandboxUrl }: Config): Steam {
  if (steamSandboxUrl === undefined) return createWebSteam()
  const base = new URL(steamSandboxUrl).origin
  return createWebSteam({
    redirect: createSandboxAgent(mode, base),
    imageBase: base,
    communityBase: base,
  })
}

function add({ config, db }: Context, refreshToken: string): Promise<AddBotAnswer> {
  const box = createSecretBox(config.masterKey)
  return addBot({ db, steam: steamOf(config), box, clock: systemClock, refreshToken })
}

/** True when the bot was added. */
function tell(answer: AddBotAnswer): boolean {
  if (answer.kind !== 'added') {
    const detail = answer.kind === 'unavailable' ? `: ${answer.detail}` : ''
    console.error(`a bot was not added: ${answer.reason}${detail}`)
    return false
  }
  const end = answer.tokenExpiresAt ? `, token good until ${dayOf(answer.tokenExpiresAt)}` : ''
  console.log(`bot ${answer.botId} added: ${answer.name} (${answer.steamId})${end}`)
  if (!answer.protectionAcknowledged) {
    console.error('Steam did not take the notice about trade protection; the gateway tries again.')
  }
  return true
}

/** `bot add`: enrols by refresh tokens on stdin, one a line. */
export async function addBots(context: Context): Promise<void> {
  let failed = 0
  for await (const refreshToken of inputLines()) {
    if (!tell(await add(context, refreshToken))) failed += 1
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
  const { mode, steamSandboxUrl } = context.config
  const agent = steamSandboxUrl === undefined ? createLiveAgent() : createSandboxAgent(mode, steamSandboxUrl)
  const answer = values.phone
    ? await obtainToken(agent, {
        by: 'phone',
        show: (url) => console.log(`Open this with the Steam app on the bot's phone and approve:\n  ${url}`),
      })
    : await askAndObtain(agent)
  if (answer.kind === 'refused') throw new Refusal(WHY[answer.reason])
  if (answer.kind === 'unavailable') throw new Refusal(`Steam did not log in: ${answer.detail}`)
  if (!tell(await add(context, answer.refreshToken))) throw new Refusal('Try again once Steam answers.')
}

async function askAndObtain(agent: ReturnType<typeof createLiveAgent>): Promise<TokenAnswer> {
  const questions = openQuestions()
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
export async function showBots({ db }: Context): Promise<void> {
  for (const bot of await listBots(db)) {
    const reach = bot.reachable ? 'online' : `offline (${bot.stateReason ?? 'no gateway holds it'})`
    const token = bot.tokenExpiresAt ? `token until ${dayOf(bot.tokenExpiresAt)}` : 'token without an end'
    const soon =
      bot.tokenExpiresAt && bot.tokenExpiresAt.getTime() - Date.now() < 14 * DAY_MS ? ' (soon)' : ''
    const facts = [bot.botId, bot.state, reach, `level ${bot.level}`, `${bot.itemsHeld} items`, token + soon]
    console.log([...facts, bot.steamId, bot.name].join('\t'))
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
export function changeBot(act: BotAct): (context: Context, args: string[]) => Promise<void> {
  return async ({ db }, [which = '']) => {
    const answer = await actOnBot(db, which, act)
    if (answer.kind === 'refused') throw new Refusal(NOT_DONE[answer.reason])
    console.log(`bot ${which} (${answer.name}) ${DONE[act]}`)
  }
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10)
}
