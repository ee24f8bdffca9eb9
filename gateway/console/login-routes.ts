/** The calls that enrol a bot, or renew its token, through a login that a phone approves. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { parseTradeLink } from '../../contract/trade-link.ts'
import type { Log } from '../kit/log.ts'
import { type ActDeps, type Answer, done, type Refused, refused } from '../operations/operation.ts'
import { refuseCall } from './answer.ts'
import { seriousAct } from './call.ts'
import { text } from './input.ts'
import { createLogins } from './logins.ts'
import { admit, type Visitor, type VisitorDeps, visitorOf } from './visitor.ts'

/** Reads an act from the body of a call, and counts it towards the visitor's limit of acts. */
export type TakeAct = (visitor: Visitor, body: unknown) => { act: ActDeps; input: unknown }

type Deps = VisitorDeps & {
  log: Log
  /** Monotonic milliseconds. */
  nowMs(): number
  visitor(request: FastifyRequest): Promise<Visitor>
  takeAct: TakeAct
  send(reply: FastifyReply, answer: Answer<unknown>): FastifyReply
}

const tradeLink = z
  .string()
  .max(500)
  .transform((typed, context) => {
    const link = parseTradeLink(typed)
    if (link !== undefined) return link
    context.addIssue({ code: 'custom', message: 'must be a trade link' })
    return z.NEVER
  })
/**
 * `bot`: the bot whose token is renewed. Without it, the approving account becomes a bot. `checkWith`: a trade link of
 * another account, used to ask Steam about the bot's own trade hold.
 */
const beginInput = z.object({ bot: text(20).optional(), checkWith: tradeLink.optional() })
const loginInput = z.object({ loginId: z.uuid() })

const SIGNED_OUT = 'You were signed out before the phone approved. Nothing was changed.'

export function addLoginCalls(app: FastifyInstance, deps: Deps): void {
  const logins = createLogins(deps)
  app.addHook('onClose', async () => logins.endAll())

  app.post('/ops/login/begin', async (request, reply) => {
    const visitor = await deps.visitor(request)
    const findObstacle = async () =>
      (await visitorOf(deps, request, true)) === undefined ? refused('conflict', SIGNED_OUT) : undefined
    const call = seriousAct(beginInput, async (act, { bot, checkWith }) => {
      const account = await accountToApprove(act, bot)
      if (account.kind === 'refused') return account
      const { steamId } = account
      const { enrolByLogin } = await import('../operations/enrolment.ts')
      const name = steamId === undefined ? 'bot enrol' : 'bot renew'
      const begunLogin = await logins.begin(visitor.name, (way) =>
        enrolByLogin(act, { kind: 'phone', ...way }, { name, steamId, checkWith, findObstacle }),
      )
      return 'kind' in begunLogin ? begunLogin : done(begunLogin)
    })
    admit(visitor, call, deps.clock.machineNow())
    const { act, input } = deps.takeAct(visitor, request.body)
    return deps.send(reply, await call.run(act, input))
  })
  // Operators see only their own logins.
  app.post('/ops/login/look', async (request, reply) => {
    const { name } = await deps.visitor(request)
    const { loginId } = loginOf(request)
    const login = logins.look(name, loginId)
    if (login === undefined) return deps.send(reply, refused('not_found', 'This login is over.'))
    const { address, answer } = login
    return deps.send(reply, answer ?? done({ botId: null, address }))
  })
  app.post('/ops/login/end', async (request, reply) => {
    const { name } = await deps.visitor(request)
    logins.end(name, loginOf(request).loginId)
    return deps.send(reply, done({}))
  })
}

function loginOf({ body }: FastifyRequest): { loginId: string } {
  const parsed = loginInput.safeParse(body)
  return parsed.success ? parsed.data : refuseCall('usage', 'The call is malformed.')
}

type Account = { kind: 'account'; steamId: string | undefined }

/** Returns the account that must approve; with no bot named, any account may. */
async function accountToApprove(deps: ActDeps, bot: string | undefined): Promise<Account | Refused> {
  if (bot === undefined) return { kind: 'account', steamId: undefined }
  const { accountOf } = await import('../operations/renewal.ts')
  const answer = await accountOf(deps, bot)
  return typeof answer === 'string' ? { kind: 'account', steamId: answer } : answer
}
