/** The calls of the console. Each is a POST, because browsers send no Origin with a page's GET to its own origin. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type Buckets, createAddressBuckets, createBuckets, networkKey } from '../http/limits.ts'
import type { Log } from '../kit/log.ts'
import { type ActDeps, type Answer, done } from '../operations/operation.ts'
import { isFresh } from '../operators/session.ts'
import { endSession, endSessionsLike } from '../operators/session-store.ts'
import { ACTS } from './acts.ts'
import { refuseCall, toBody } from './answer.ts'
import type { Call } from './call.ts'
import { CLEAR_COOKIE, type Halves, setCookie } from './cookie.ts'
import { FINDS } from './finds.ts'
import type { Live } from './live.ts'
import { addLoginCalls, type TakeAct } from './login-routes.ts'
import { assertionSchema, registrationSchema } from './passkeys.ts'
import {
  beginRegistration,
  beginSignIn,
  beginStepUp,
  enterSandbox,
  finishRegistration,
  finishSignIn,
  finishStepUp,
  type SignInDeps,
} from './sign-in.ts'
import { admit, type Visitor, visitorOf } from './visitor.ts'

export type ConsoleDeps = SignInDeps & {
  log: Log
  live: Live
  /** Monotonic milliseconds. */
  nowMs(): number
}

const CALLS_OF_ADDRESS = { perSecond: 20, burst: 300 }
/** Limits of sign-in attempts. A passkey cannot be guessed, but each attempt costs work. */
const TRIES_OF_ADDRESS = { perSecond: 0.2, burst: 12 }
const TRIES_OF_ALL = { perSecond: 2, burst: 60 }
/**
 * The first attempts of a network are counted apart from all others, so callers who try again and again keep no operator
 * from signing in. A caller would need 600 networks to use up `FIRST_TRIES_OF_ALL`, which still bounds the work.
 */
const FIRST_TRIES_OF_NETWORK = { perSecond: 1 / 60, burst: 6 }
const FIRST_TRIES_OF_ALL = { perSecond: 10, burst: 200 }
const ACTS_OF_OPERATOR = { perSecond: 1, burst: 30 }

const secret = z.string().regex(/^[\w-]{32,128}$/)
const linkSchema = z.object({ link: secret })
const keySchema = z.object({ key: secret })
const actSchema = z.object({ reason: z.string().max(500).nullable(), input: z.unknown() })

export function addConsoleCalls(app: FastifyInstance, deps: ConsoleDeps): void {
  const limits = {
    calls: createAddressBuckets(CALLS_OF_ADDRESS, deps.nowMs),
    tries: createAddressBuckets(TRIES_OF_ADDRESS, deps.nowMs),
    triesOfAll: createBuckets(TRIES_OF_ALL, deps.nowMs),
    firstTries: createBuckets(FIRST_TRIES_OF_NETWORK, deps.nowMs),
    firstTriesOfAll: createBuckets(FIRST_TRIES_OF_ALL, deps.nowMs),
    acts: createBuckets(ACTS_OF_OPERATOR, deps.nowMs),
  }
  app.addHook('onRequest', async ({ ip }) => spend(limits.calls, ip))
  addSignIn(app, deps, ({ ip }) => {
    spend(limits.tries, ip)
    const isFirst = limits.firstTries.take(networkKey(ip)) && limits.firstTriesOfAll.take('all')
    if (!isFirst) spend(limits.triesOfAll, 'all')
  })
  addSession(app, deps)
  for (const [name, call] of Object.entries(FINDS)) addFind(app, deps, { name, call })
  const takeAct: TakeAct = (visitor, body) => {
    spend(limits.acts, visitor.name)
    const { reason, input } = parse(actSchema, body)
    return { act: callDeps(deps, visitor, reason), input }
  }
  for (const [name, call] of Object.entries(ACTS)) addAct(app, deps, { name, call, takeAct })
  addLoginCalls(app, {
    ...deps,
    visitor: (request) => requireVisitor(deps, request),
    takeAct,
    send: sendAnswer,
  })
  addLive(app, deps)
}

function spend(buckets: Buckets, key: string): void {
  if (!buckets.take(key)) refuseCall('too_many')
}

function parse<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body)
  return parsed.success ? parsed.data : refuseCall('usage', 'The call is malformed.')
}

const sendAnswer = (reply: FastifyReply, answer: Answer<unknown>): FastifyReply => {
  const { status, body } = toBody(answer)
  return reply.code(status).type('application/json').send(body)
}

const send = (reply: FastifyReply, data: unknown): FastifyReply => sendAnswer(reply, done(data))

/** The session's secret has two halves: the browser keeps one as a cookie, and the page gets the other. */
const answerWithSession = (reply: FastifyReply, { cookie, page }: Halves): FastifyReply => {
  reply.header('set-cookie', setCookie(cookie))
  return send(reply, { session: page })
}

function addSignIn(app: FastifyInstance, deps: ConsoleDeps, limit: (request: FastifyRequest) => void): void {
  const addCall = (path: string, answer: (body: unknown, reply: FastifyReply) => Promise<FastifyReply>) =>
    app.post(path, async (request, reply) => {
      limit(request)
      return answer(request.body, reply)
    })
  addCall('/ops/link/begin', async (body, reply) =>
    send(reply, await beginRegistration(deps, parse(linkSchema, body).link)),
  )
  addCall('/ops/link/finish', async (body, reply) => {
    const input = parse(linkSchema.extend({ registration: registrationSchema }), body)
    const halves = await finishRegistration(deps, input)
    deps.log.info('operator registered a passkey')
    return answerWithSession(reply, halves)
  })
  addCall('/ops/sign-in/begin', async (_body, reply) => send(reply, await beginSignIn(deps)))
  addCall('/ops/sign-in/finish', async (body, reply) => {
    const halves = await finishSignIn(deps, parse(z.object({ assertion: assertionSchema }), body).assertion)
    deps.log.info('operator signed in')
    return answerWithSession(reply, halves)
  })
  addCall('/ops/sandbox', async (body, reply) =>
    answerWithSession(reply, await enterSandbox(deps, parse(keySchema, body).key)),
  )
}

/** True for a call that a page makes to update itself. It does not keep the session alive. */
const isWatching = ({ headers }: FastifyRequest): boolean => headers['x-console-watching'] === '1'

async function requireVisitor(deps: ConsoleDeps, request: FastifyRequest): Promise<Visitor> {
  const visitor = await visitorOf(deps, request, isWatching(request))
  return visitor ?? refuseCall('signed_out')
}

function addSession(app: FastifyInstance, deps: ConsoleDeps): void {
  app.post('/ops/session', async (request, reply) => {
    const { name, role, operatorId, session } = await requireVisitor(deps, request)
    const { mode } = deps.config
    const isSandbox = operatorId === null
    const hasFreshCheck = isSandbox || isFresh(session, deps.clock.machineNow())
    return send(reply, { name, role, mode, isSandbox, isFresh: hasFreshCheck, now: deps.clock.now() })
  })
  app.post('/ops/step-up/begin', async (request, reply) =>
    send(reply, await beginStepUp(deps, await requireVisitor(deps, request))),
  )
  app.post('/ops/step-up/finish', async (request, reply) => {
    const { assertion } = parse(z.object({ assertion: assertionSchema }), request.body)
    await finishStepUp(deps, await requireVisitor(deps, request), assertion)
    return send(reply, {})
  })
  app.post('/ops/sign-out', async (request, reply) => {
    const { session } = await requireVisitor(deps, request)
    await endSession(deps.db, session.cookieSha256)
    reply.header('set-cookie', CLEAR_COOKIE)
    return send(reply, {})
  })
  app.post('/ops/sign-out-everywhere', async (request, reply) => {
    const { session, name } = await requireVisitor(deps, request)
    const sessions = await endSessionsLike(deps.db, session)
    deps.log.info({ operator: name, sessions }, 'operator signed out everywhere')
    reply.header('set-cookie', CLEAR_COOKIE)
    return send(reply, { sessions })
  })
}

type NamedCall = { name: string; call: Call }

const callDeps = (deps: ConsoleDeps, { name, operatorId }: Visitor, reason: string | null): ActDeps => ({
  config: deps.config,
  db: deps.db,
  clock: deps.clock,
  operator: name,
  reason,
  ...(operatorId !== null && { operatorId }),
})

function addFind(app: FastifyInstance, deps: ConsoleDeps, { name, call }: NamedCall): void {
  app.post(`/ops/find/${name}`, async (request, reply) => {
    const visitor = await requireVisitor(deps, request)
    admit(visitor, call, deps.clock.machineNow())
    return sendAnswer(reply, await call.run(callDeps(deps, visitor, null), request.body))
  })
}

function addAct(
  app: FastifyInstance,
  deps: ConsoleDeps,
  { name, call, takeAct }: NamedCall & { takeAct: TakeAct },
): void {
  app.post(`/ops/act/${name.replaceAll(' ', '-')}`, async (request, reply) => {
    const visitor = await requireVisitor(deps, request)
    admit(visitor, call, deps.clock.machineNow())
    const { act, input } = takeAct(visitor, request.body)
    return sendAnswer(reply, await call.run(act, input))
  })
}

/** Streams notices of changes. The page cannot use an EventSource, whose GET would send no Origin. */
function addLive(app: FastifyInstance, deps: ConsoleDeps): void {
  app.post('/ops/live', async (request, reply) => {
    const { session } = await requireVisitor(deps, request)
    const { raw } = reply
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) raw.setHeader(name, value)
    // The head leaves with the first line of the stream, so a refusal can still have a head of its own.
    raw.setHeader('content-type', 'text/event-stream')
    raw.setHeader('cache-control', 'no-store')
    const mayStay = async (): Promise<boolean> => (await visitorOf(deps, request, true)) !== undefined
    const isOpen = deps.live.open({ key: session.cookieSha256.toString('hex'), response: raw, mayStay })
    if (!isOpen) refuseCall('too_many')
    reply.hijack()
  })
}
