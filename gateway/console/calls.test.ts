import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ACTS_WITHOUT_COMMAND, mayAs, OPERATOR_ROLES, type OperatorRole } from '../../contract/operators.ts'
import { allCommands } from '../cli/app.ts'
import { dismissOperator } from '../operations/operators.ts'
import { recordPayout } from '../operations/payouts.ts'
import {
  approveProposal,
  changeApprovalLimit,
  declineProposal,
  listProposals,
} from '../operations/proposals.ts'
import type { Authenticator } from '../testing/authenticator.ts'
import {
  OWN_PAGE_HEADERS,
  post,
  SANDBOX_KEY,
  sessionOf,
  showPasskey,
  signIn,
  startConsole,
  type TestConsole,
} from '../testing/console.ts'
import { ACTS } from './acts.ts'
import { FINDS } from './finds.ts'

const MINUTE_MS = 60_000

type Person = { headers: Record<string, string>; device: Authenticator }

let till: TestConsole
const people = new Map<OperatorRole, Person>()

const personOf = (role: OperatorRole): Person => {
  const person = people.get(role)
  if (person === undefined) throw new Error(`nobody is ${role}`)
  return person
}
const headersOf = (role: OperatorRole) => personOf(role).headers

beforeAll(async () => {
  till = await startConsole()
  for (const role of OPERATOR_ROLES) people.set(role, await signIn(till, `the ${role}`, role))
  await till.db
    .insertInto('store')
    .values({ name: 'Ember', origins: ['https://store.test'] })
    .execute()
  await till.db
    .insertInto('account')
    .values({ store_id: 1n, kind: 'available', currency: 'USD', balance: 1_000_000n, floor: 0n })
    .execute()
})
afterAll(() => till.close())
beforeEach(() => till.advanceLimits(60 * MINUTE_MS))

const pathOf = (act: string): string => `act/${act.replaceAll(' ', '-')}`

const doAct = (role: OperatorRole, act: string, input: object = {}, reason: string | null = 'a test') =>
  post(till, pathOf(act), { headers: headersOf(role), body: { reason, input } })

const CALLS = [
  ...Object.entries(FINDS).map(([name, call]) => ({ path: `find/${name}`, ...call })),
  ...Object.entries(ACTS).map(([name, call]) => ({ path: pathOf(name), ...call })),
]
const LOGINS = ['login/begin', 'login/look', 'login/end']
const OTHERS = ['session', 'sign-out-everywhere', 'live', 'step-up/begin', 'sign-in/begin', ...LOGINS]

describe('D-33 a foreign page, such as one on another port of this host', () => {
  const { origin: _, ...noOrigin } = OWN_PAGE_HEADERS
  const { 'sec-fetch-site': __, ...noSite } = OWN_PAGE_HEADERS
  const HOSTILE: [string, Record<string, string>][] = [
    [
      'from its own origin',
      { ...OWN_PAGE_HEADERS, origin: 'http://localhost:4302', 'sec-fetch-site': 'same-site' },
    ],
    ['with our origin, as a same-site call', { ...OWN_PAGE_HEADERS, 'sec-fetch-site': 'same-site' }],
    [
      'from another site',
      { ...OWN_PAGE_HEADERS, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    ],
    ['from an opaque origin', { ...OWN_PAGE_HEADERS, origin: 'null' }],
    ['without an origin', noOrigin],
    ['without Sec-Fetch-Site', noSite],
    ['as a form', { ...OWN_PAGE_HEADERS, 'content-type': 'text/plain' }],
    [
      'as a form of another kind',
      { ...OWN_PAGE_HEADERS, 'content-type': 'application/x-www-form-urlencoded' },
    ],
  ]

  test.each(HOSTILE)('gets nothing %s, even with the session of an operator', async (_title, headers) => {
    const { cookie = '', 'x-console-session': half = '' } = headersOf('operator')
    for (const path of [...CALLS.map((call) => call.path), ...OTHERS]) {
      const answer = await post(till, path, { headers: { ...headers, cookie, 'x-console-session': half } })
      expect([path, answer.status, answer.error?.kind]).toEqual([path, 403, 'cross_site'])
      till.advanceLimits(MINUTE_MS)
    }
  })

  test.each(['/%6fps/find/acts', '/ops/%66ind/acts', '/ops/find/acts?x=1'])(
    'gets nothing at %s',
    async (url) => {
      const headers = { ...headersOf('operator'), origin: 'http://localhost:4302' }
      const answer = await till.app.inject({ method: 'POST', url, headers, payload: '{}' })
      expect(answer.json()).toMatchObject({ error: { kind: 'cross_site' } })
    },
  )

  test.each([['127.0.0.1:4304'], ['evil.example'], ['localhost:4302'], ['localhost'], ['[::1]:4304']])(
    'gets nothing under the host %s',
    async (host) => {
      const answer = await post(till, 'find/acts', { headers: { ...headersOf('operator'), host } })
      expect(answer).toMatchObject({ status: 421, error: { kind: 'wrong_host' } })
      for (const url of ['/', '/%ff'])
        expect(await till.app.inject({ url, headers: { host } })).toMatchObject({ statusCode: 421 })
    },
  )

  test('cannot read or frame the page, or keep a handle on its window', async () => {
    const { headers } = await till.app.inject({ url: '/', headers: { host: OWN_PAGE_HEADERS.host } })
    expect(headers).toMatchObject({
      'x-frame-options': 'DENY',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    })
    const policy = String(headers['content-security-policy'])
    for (const part of [
      "default-src 'none'",
      "frame-ancestors 'none'",
      "form-action 'none'",
      "trusted-types 'none'",
    ])
      expect(policy).toContain(part)
    expect(policy).not.toContain('unsafe')
  })
})

describe('a call', () => {
  test('by a signed-out caller is always refused', async () => {
    for (const { path } of CALLS) {
      const answer = await post(till, path, { body: { reason: 'a test', input: {} } })
      expect([path, answer.error?.kind]).toEqual([path, 'signed_out'])
    }
  })

  test('must be a POST', async () => {
    const answer = await post(till, 'find/acts', { headers: headersOf('operator'), method: 'GET' })
    expect(answer.status).toBe(404)
  })

  test.each(CALLS)('to $path needs the role $role or above', async ({ path, role }) => {
    for (const callerRole of OPERATOR_ROLES) {
      // No call has this field, so an admitted call is refused as malformed, or carried out if it needs no input.
      const body = path.startsWith('act/') ? { reason: null, input: { nothing: 'here' } } : {}
      const answer = await post(till, path, { headers: headersOf(callerRole), body })
      expect([callerRole, answer.error?.kind === 'forbidden']).toEqual([callerRole, !mayAs(callerRole, role)])
    }
    // Undoes `maintenance on` and `bot disarm`, which were done.
    await till.db.deleteFrom('outage').execute()
    await till.db.deleteFrom('halt').execute()
  })

  const callsWithFreshCheck = CALLS.filter(({ needsFreshCheck }) => needsFreshCheck)
  test.each(callsWithFreshCheck)('to $path needs a fresh check of a passkey', async ({ path }) => {
    till.clock.advance(6 * MINUTE_MS)
    const { device, headers } = personOf('operator')
    const body = { reason: 'a test', input: {} }
    expect((await post(till, path, { headers, body })).error?.kind).toBe('step_up')
    expect((await showPasskey(till, { device, headers, at: 'step-up' })).status).toBe(200)
    expect((await post(till, path, { headers, body })).error?.kind).not.toBe('step_up')
    await till.db.deleteFrom('halt').execute()
    // Keeps the sessions from ending: the clock has moved, and an idle session ends.
    for (const role of OPERATOR_ROLES) await post(till, 'session', { headers: headersOf(role) })
  })

  test('that changes something records who did it, what was done and why', async () => {
    await showPasskey(till, { ...personOf('operator'), at: 'step-up' })
    const payout = { storeId: '1', currency: 'USD', amount: '12.50', reference: 'wire 1' }
    expect(await doAct('operator', 'payout record', payout, 'November')).toMatchObject({ status: 200 })
    const { data } = await post(till, 'find/acts', {
      headers: headersOf('viewer'),
      body: { act: 'payout record' },
    })
    expect(data).toMatchObject({
      acts: [
        { operator: 'the operator', reason: 'November', arguments: { amountMinor: 1250, storeId: '1' } },
      ],
    })
  })

  test('that the operation refuses is answered with the refusal', async () => {
    const answer = await doAct('operator', 'payout record', {
      storeId: '9',
      currency: 'USD',
      amount: '1.00',
      reference: 'x',
    })
    expect(answer).toMatchObject({
      status: 404,
      error: { kind: 'not_found', message: 'There is no store 9.' },
    })
    expect(await doAct('operator', 'key revoke', { keyId: 'x' }, null)).toMatchObject({
      status: 400,
      error: { message: 'key revoke needs a reason.' },
    })
  })

  test('is refused after a burst of 30 acts by the same operator', async () => {
    const kinds: (string | undefined)[] = []
    for (let acts = 0; acts < 40; acts += 1)
      kinds.push((await doAct('support', 'price release', { game: 'cs', item: 'x' })).error?.kind)
    expect(kinds).toEqual([...Array(30).fill('conflict'), ...Array(10).fill('too_many')])
    expect((await doAct('operator', 'price release', { game: 'cs', item: 'x' })).error?.kind).toBe('conflict')
  })

  test('needs no fresh check of a passkey if a sandbox’s key opened the session', async () => {
    const headers = sessionOf(await post(till, 'sandbox', { body: { key: SANDBOX_KEY } }))
    till.clock.advance(6 * MINUTE_MS)
    const answer = await post(till, 'act/key-revoke', {
      headers,
      body: { reason: 'x', input: { keyId: 'x' } },
    })
    expect(answer.error?.kind).toBe('not_found')
  })
})

test('every act of the command line is in the console, or is listed here with the reason', () => {
  const commands = allCommands().filter(({ command }) => 'reason' in (command.parameters.flags ?? {}))
  const missing = commands.map(({ name }) => name).filter((name) => ACTS[name] === undefined)
  expect(missing.sort()).toEqual(
    [
      // Takes refresh tokens, which the console must never see.
      'bot add',
      // These have separate calls, because a phone approves them: see logins.test.ts.
      ...['bot enrol', 'bot renew'],
      // These read standard input, or work without a gateway.
      ...['items moved', 'items unmoved', 'items sold', 'restore finish', 'restore recount'],
      // These need the master key from the machine's settings.
      ...['key-ring forget', 'key-ring rotate'],
      // Works in a sandbox only.
      'clock advance',
      // Only the owner of the machine may add operators: an operator cannot add another.
      ...['operator add', 'operator link', 'operator remove'],
    ].sort(),
  )
  const known = new Set(allCommands().map(({ name }) => name))
  expect(Object.keys(ACTS).filter((name) => !known.has(name))).toEqual(ACTS_WITHOUT_COMMAND)
})

describe('D-33 the approval of a second operator', () => {
  let ada: Person
  let grace: Person
  let lastWire = 100

  beforeAll(async () => {
    // The calls above used up this address's sign-in attempts.
    till.advanceLimits(60 * MINUTE_MS)
    ada = await signIn(till, 'Ada')
    till.advanceLimits(60 * MINUTE_MS)
    grace = await signIn(till, 'Grace')
    expect(await changeApprovalLimit(till.by('host'), { aboveUsdMinor: 10_000n })).toMatchObject({
      kind: 'done',
    })
  })
  beforeEach(async () => {
    for (const person of [ada, grace]) {
      till.advanceLimits(60 * MINUTE_MS)
      await showPasskey(till, { ...person, at: 'step-up' })
    }
  })

  const pay = (person: Person, amount: string) => {
    lastWire += 1
    const input = { storeId: '1', currency: 'USD', amount, reference: `wire ${lastWire}` }
    return post(till, 'act/payout-record', { headers: person.headers, body: { reason: 'wages', input } })
  }
  const decide = (person: Person, proposalId: string, verb = 'approve') =>
    post(till, `act/proposal-${verb}`, {
      headers: person.headers,
      body: { reason: 'looked at', input: { proposalId } },
    })
  const proposalIdIn = (message = ''): string => /proposal (\d+)/.exec(message)?.[1] ?? ''
  const payoutCount = async () =>
    Number(
      (
        await till.db
          .selectFrom('payout')
          .select((eb) => eb.fn.countAll().as('count'))
          .executeTakeFirst()
      )?.count,
    )

  test('is not needed for an act up to the limit', async () => {
    expect(await pay(ada, '100.00')).toMatchObject({ status: 200 })
  })

  test('is needed for an act above the limit, and two simultaneous approvals do the act once', async () => {
    const before = await payoutCount()
    const answer = await pay(ada, '100.01')
    expect(answer).toMatchObject({ status: 202, error: { kind: 'proposed' } })
    const proposalId = proposalIdIn(answer.error?.message)
    expect(await decide(ada, proposalId)).toMatchObject({ status: 409 })
    expect(await payoutCount()).toBe(before)
    const decided = await Promise.all([decide(grace, proposalId), decide(grace, proposalId)])
    expect(decided.map(({ status }) => status).sort()[0]).toBe(200)
    expect(decided.map(({ status }) => status).sort()[1]).toBeGreaterThan(400)
    expect(await payoutCount()).toBe(before + 1)
    const [record] = await till.db
      .selectFrom('operator_act')
      .select(['operator', 'arguments', 'reason'])
      .where('act', '=', 'payout record')
      .orderBy('id', 'desc')
      .limit(1)
      .execute()
    expect(record).toMatchObject({
      operator: 'Ada',
      reason: 'wages',
      arguments: { approvedBy: 'Grace', proposalId },
    })
  })

  test('is needed for small payouts whose sum within a day is above the limit, by an operator or on the command line', async () => {
    expect(await pay(grace, '60.00')).toMatchObject({ status: 200 })
    expect(await pay(grace, '40.01')).toMatchObject({ status: 202 })
    const several = await Promise.all(Array.from({ length: 4 }, () => pay(grace, '20.00')))
    expect(several.map(({ status }) => status).sort()).toEqual([200, 200, 202, 202])
    // The command line cannot prove who types, so payouts under all names there count together.
    const command = (amount: bigint, by: string) =>
      recordPayout(till.by(by), { storeId: 1n, currency: 'USD', amount, reference: `${by} ${amount}` })
    expect(await command(9_000n, 'Ada')).toMatchObject({ kind: 'done' })
    expect(await command(1_001n, 'Grace')).toMatchObject({ refusal: 'proposed' })
    expect(await command(1_000n, 'somebody')).toMatchObject({ kind: 'done' })
    // The limit counts what was moved within a day.
    const at = new Date(till.clock.machineNow().getTime() - 24 * 60 * MINUTE_MS)
    await till.db.updateTable('moved_alone').set({ at }).execute()
    expect(await command(10_000n, 'a day later')).toMatchObject({ kind: 'done' })
  })

  test('is no longer possible once the proposing operator is removed', async () => {
    const mallory = await signIn(till, 'Mallory')
    const proposalId = proposalIdIn((await pay(mallory, '150.00')).error?.message)
    const idOfAdasProposal = proposalIdIn((await pay(ada, '150.00')).error?.message)
    const removed = await dismissOperator({ ...till.by('host'), reason: 'has left' }, 'Mallory')
    expect(removed).toMatchObject({ kind: 'done', data: { declinedProposals: [BigInt(proposalId)] } })
    expect(await decide(grace, proposalId)).toMatchObject({ status: 404 })
    expect(await decide(grace, idOfAdasProposal, 'decline')).toMatchObject({ status: 200 })
    // A proposal that was inserted while its operator was being removed.
    await till.db
      .updateTable('proposal')
      .set({ state: 'open', decided_by: null, decided_at: null })
      .where('id', '=', BigInt(proposalId))
      .execute()
    expect(await decide(grace, proposalId)).toMatchObject({ status: 409 })
    expect(await decide(grace, proposalId, 'decline')).toMatchObject({ status: 200 })
  })

  test('is needed from two operators if the command line, which cannot prove who types, made the proposal', async () => {
    const before = await payoutCount()
    const payout = { storeId: 1n, currency: 'USD', amount: 20_000n, reference: 'by command' } as const
    const answer = await recordPayout(till.by('Grace'), payout)
    expect(answer).toMatchObject({ kind: 'refused', refusal: 'proposed' })
    const proposalId = proposalIdIn(answer.message)
    expect(await approveProposal(till.by('Ada'), BigInt(proposalId))).toMatchObject({ refusal: 'conflict' })
    expect(await decide(ada, proposalId)).toMatchObject({ status: 200, data: { state: 'backed' } })
    expect(await decide(ada, proposalId)).toMatchObject({ status: 409 })
    expect(await payoutCount()).toBe(before)
    expect(await decide(grace, proposalId)).toMatchObject({ status: 200, data: { state: 'approved' } })
    expect(await payoutCount()).toBe(before + 1)
  })

  test('is refused for a declined proposal', async () => {
    const proposalId = proposalIdIn((await pay(ada, '150.00')).error?.message)
    expect(await decide(ada, proposalId, 'decline')).toMatchObject({ status: 200 })
    expect(await decide(grace, proposalId)).toMatchObject({ status: 404 })
    // The command line may decline a proposal too.
    const nextId = proposalIdIn((await pay(ada, '150.00')).error?.message)
    expect(await declineProposal(till.by('host'), BigInt(nextId))).toMatchObject({ kind: 'done' })
  })

  test('is not requested for an act that would fail', async () => {
    // The store had 10,000.00 USD at first.
    expect(await pay(ada, '99999.00')).toMatchObject({ status: 409, error: { kind: 'conflict' } })
  })

  test('is needed for a change of the limit', async () => {
    const answer = await changeApprovalLimit(till.by('host'), { aboveUsdMinor: null })
    expect(answer).toMatchObject({ refusal: 'proposed' })
    const listed = await listProposals({ ...till.by('host') })
    expect(listed).toMatchObject({ data: { aboveUsdMinor: 10_000n } })
    const proposalId = proposalIdIn(answer.message)
    await decide(ada, proposalId)
    expect(await decide(grace, proposalId)).toMatchObject({ status: 200 })
    expect(await listProposals({ ...till.by('host') })).toMatchObject({ data: { aboveUsdMinor: null } })
    expect(await pay(ada, '900.00')).toMatchObject({ status: 200 })
  })
})
