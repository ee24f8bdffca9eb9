import { BAD_DAYS } from '../bad-days/bad-days.ts'
import { credentialsOf } from '../credentials.ts'
import { parseFault } from '../faults.ts'
import { field, type Incoming, json, type Reply } from '../http.ts'
import { advance, bringAhead, type Sandbox, tradeLink } from '../sandbox.ts'
import { refreshTokenOf } from '../tokens.ts'
import { addBot, findOrAddSeller, inviteGuest, MOST_BOTS, MOST_GUESTS } from '../world/guests.ts'
import { PEOPLE } from '../world/people.ts'
import type { Account } from '../world/world.ts'
import { CHANGES } from './changes.ts'
import { lineOfShopper } from './lines.ts'

/** The calls of tests and demos, on the sandbox's own address only. */
export function control(request: Incoming, sandbox: Sandbox): Reply | undefined {
  if (!request.path.startsWith('/control/')) return undefined
  const call = CALLS[`${request.method} ${request.path}`]
  if (call) return call(sandbox, request)
  const [, , noun = '', id = '', verb = ''] = request.path.split('/')
  return CHANGES[`${request.method} ${noun} ${verb}`]?.(sandbox, id, request.json)
}

const MOST_ADVANCE_S = 3650 * 86_400

const isStep = (seconds: unknown): seconds is number =>
  typeof seconds === 'number' && seconds >= 0 && seconds <= MOST_ADVANCE_S

const CALLS: Record<string, (sandbox: Sandbox, request: Incoming) => Reply> = {
  'GET /control/players': ({ world }) =>
    json(shoppers(world().accounts.filter(({ behaviour, isGuest }) => !behaviour && !isGuest))),
  'POST /control/players': (sandbox, { json: body }) => {
    const like = field(body, 'like')
    if (typeof like !== 'string') return badRequest('The body must have `like`, the name of a shopper.')
    const guest = sandbox.change((world) => inviteGuest(world, like))
    if (guest === undefined)
      return badRequest(`There is no shopper called ${like}, or there are ${MOST_GUESTS} guests already.`)
    return json(shoppers([guest])[0], 201)
  },
  'GET /control/magic': ({ world }) =>
    json(shoppers(world().accounts.filter(({ behaviour, isGuest }) => behaviour && !isGuest))),
  'GET /control/bots': (sandbox) =>
    json(
      sandbox
        .world()
        .accounts.filter(({ kind }) => kind === 'bot')
        .map((bot) => accessOf(bot, sandbox)),
    ),
  'POST /control/bots': (sandbox) => {
    const bot = sandbox.change(addBot)
    return bot === undefined
      ? badRequest(`There are ${MOST_BOTS} bots already.`)
      : json(accessOf(bot, sandbox), 201)
  },
  'POST /control/sellers': (sandbox) => {
    const seller = sandbox.change(findOrAddSeller)
    if (seller === undefined) return badRequest('There is no bot to copy for the seller.')
    return json({ ...accessOf(seller, sandbox), tradeUrl: tradeLink(seller) }, 201)
  },
  'GET /control/offers': ({ world }) => json(world().offers),
  'GET /control/trades': ({ world }) => json(world().trades),
  'GET /control/log': ({ log }) => json(log),
  'GET /control/counts': ({ counts }) => json(Object.fromEntries(counts)),
  'GET /control/clock': clock,
  'POST /control/clock': (sandbox, { json: body }) => {
    const aheadS = field(body, 'aheadS')
    if (isStep(aheadS)) {
      bringAhead(sandbox, Math.floor(aheadS))
      return clock(sandbox)
    }
    const seconds = field(body, 'advanceS') ?? Number(field(body, 'advanceDays')) * 86_400
    if (!isStep(seconds))
      return badRequest('The body must have advanceS, advanceDays or aheadS, at most ten years.')
    advance(sandbox, Math.floor(seconds))
    return clock(sandbox)
  },
  'POST /control/protection': (sandbox, { json: body }) => {
    const seconds = field(body, 'seconds')
    if (typeof seconds !== 'number' || !(seconds >= 0))
      return badRequest('The body must have `seconds`, a number that is not negative.')
    sandbox.change((world) => ({ world: { ...world, protectionS: seconds }, answer: undefined }))
    return json({ ok: true })
  },
  'GET /control/tour': ({ tour }) => json(tour.scenes()),
  'PUT /control/tour': ({ tour }, { json: body }) =>
    tour.set(body)
      ? json({ ok: true })
      : badRequest('The body must list the scenes, each with name, title and line.'),
  'POST /control/reset': ({ reset }) => {
    reset()
    return json({ ok: true })
  },
  'POST /control/faults': ({ faults }, request) => {
    const fault = parseFault(request.json)
    if (!fault) return badRequest('A fault needs match.path.')
    faults.add(fault)
    return json({ ok: true })
  },
  'DELETE /control/faults': ({ faults }) => {
    faults.clear()
    return json({ ok: true })
  },
  'GET /control/behaviours': ({ world, faults }) => {
    const on = new Set([...faults.activeNames(), ...world().switched.map(({ name }) => name)])
    const rows = Object.entries({ ...PEOPLE, ...BAD_DAYS })
    return json(rows.map(([name, { line }]) => ({ name, line, on: on.has(name) })))
  },
  'DELETE /control/behaviours': (sandbox) => {
    sandbox.faults.clear()
    sandbox.change((world) => ({ world: { ...world, switched: [] }, answer: undefined }))
    return json({ ok: true })
  },
}

/** Everything that a till or a vault needs to log in as this account. */
function accessOf(account: Account, { nowS }: Sandbox) {
  const { name, steamId } = account
  return { name, steamId, refreshToken: refreshTokenOf(account, nowS()), ...credentialsOf(account) }
}

function shoppers(accounts: ReturnType<Sandbox['world']>['accounts']) {
  return accounts
    .filter(({ kind }) => kind === 'shopper')
    .map((account) => ({
      name: account.name,
      steamId: account.steamId,
      accountId: account.accountId,
      tradeUrl: tradeLink(account),
      ...(account.behaviour ? { behaviour: account.behaviour } : {}),
      line: lineOfShopper(account),
    }))
}

function clock({ nowS, clockS }: Sandbox): Reply {
  return json({ nowS: nowS(), aheadS: nowS() - clockS() })
}

function badRequest(error: string): Reply {
  return json({ error }, 400)
}
