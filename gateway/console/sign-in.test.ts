import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { dismissOperator, linkOperator, listOperators } from '../operations/operators.ts'
import { createAuthenticator } from '../testing/authenticator.ts'
import {
  linkFor,
  ORIGIN,
  OWN_PAGE_HEADERS,
  post,
  register,
  SANDBOX_KEY,
  secretOf,
  sessionOf,
  showPasskey,
  signIn,
  startConsole,
  type TestConsole,
} from '../testing/console.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

let database: TestDatabase
let till: TestConsole
let tests = 0
/** Name of an operator that no other test uses. */
let name: string

beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.close())
beforeEach(async () => {
  till = await startConsole(database)
  tests += 1
  name = `nina ${tests}`
})
afterEach(() => till.close())

const whoAmI = (headers: Record<string, string>) => post(till, 'session', { headers })
const refusalOf = async (answer: Promise<{ error: { kind: string } | undefined }>) =>
  (await answer).error?.kind

describe('D-33 a one-time link', () => {
  test('registers a passkey, which is recorded, and signs in', async () => {
    const { headers } = await signIn(till, name, 'support')
    expect((await whoAmI(headers)).data).toMatchObject({
      name,
      role: 'support',
      isSandbox: false,
      isFresh: true,
    })
    const acts = await till.db.selectFrom('operator_act').select(['act', 'operator']).execute()
    expect(acts).toContainEqual({ act: 'operator passkey', operator: name })
  })

  test('is used up by a registration, not by being opened', async () => {
    const link = await linkFor(till, name)
    for (let n = 0; n < 3; n += 1)
      expect((await post(till, 'link/begin', { body: { link } })).status).toBe(200)
    expect((await register(till, link)).status).toBe(200)
    expect(await refusalOf(register(till, link))).toBe('link_over')
  })

  test('used by two people at the same moment admits only one', async () => {
    const link = await linkFor(till, name)
    const answers = await Promise.all([register(till, link), register(till, link)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403])
  })

  test('expires after 10 minutes on the machine’s clock, whatever the time on the till’s clock', async () => {
    const link = await linkFor(till, name)
    till.clock.jump(20 * MINUTE_MS)
    till.clock.advance(10 * MINUTE_MS - 1)
    expect((await post(till, 'link/begin', { body: { link } })).status).toBe(200)
    till.clock.advance(1)
    expect(await refusalOf(post(till, 'link/begin', { body: { link } }))).toBe('link_over')
  })

  test('from a clock that was ahead is over once the clock is set right, and so is a challenge for signing in', async () => {
    till.clock.advance(2 * DAY_MS)
    const link = await linkFor(till, name)
    const { data } = await post(till, 'sign-in/begin')
    till.clock.advance(-2 * DAY_MS)
    expect(await refusalOf(post(till, 'link/begin', { body: { link } }))).toBe('link_over')
    const { device } = await signIn(till, `${name} b`)
    const assertion = device.authenticate(data.options as { challenge: string })
    expect(await refusalOf(post(till, 'sign-in/finish', { body: { assertion } }))).toBe('passkey_refused')
  })

  test('replaces an earlier link of the same operator', async () => {
    const first = await linkFor(till, name)
    // Names are compared without regard to case.
    const second = await linkOperator(till.by('host'), name.toUpperCase())
    if (second.kind === 'refused') throw new Error(second.message)
    expect(await refusalOf(register(till, first))).toBe('link_over')
    expect((await register(till, secretOf(second.data))).status).toBe(200)
  })

  test('refuses a passkey that was made for another origin or link, or without verification of the user', async () => {
    const link = await linkFor(till, name)
    const foreign = createAuthenticator('http://localhost:4302')
    expect(await refusalOf(register(till, link, foreign))).toBe('passkey_refused')
    const careless = createAuthenticator(ORIGIN, { verifies: false })
    expect(await refusalOf(register(till, link, careless))).toBe('passkey_refused')
    const otherLink = await linkFor(till, `${name} b`)
    const beginAnswer = await post(till, 'link/begin', { body: { link: otherLink } })
    const { challenge } = beginAnswer.data.options as { challenge: string }
    const registration = createAuthenticator(ORIGIN).register({ challenge })
    expect(await refusalOf(post(till, 'link/finish', { body: { link, registration } }))).toBe(
      'passkey_refused',
    )
    expect((await register(till, link)).status).toBe(200)
  })
})

describe('a passkey', () => {
  test('signs in, and its answer cannot be used again', async () => {
    const { device } = await signIn(till, name)
    const beginAnswer = await post(till, 'sign-in/begin')
    const assertion = device.authenticate(beginAnswer.data.options as { challenge: string })
    const answer = await post(till, 'sign-in/finish', { body: { assertion } })
    expect((await whoAmI(sessionOf(answer))).data).toMatchObject({ name })
    expect(await refusalOf(post(till, 'sign-in/finish', { body: { assertion } }))).toBe('passkey_refused')
  })

  test('that is not registered, or answers a stale challenge, is refused', async () => {
    const { device } = await signIn(till, name)
    expect(await refusalOf(showPasskey(till, { device: createAuthenticator(ORIGIN) }))).toBe(
      'passkey_refused',
    )
    const beginAnswer = await post(till, 'sign-in/begin')
    till.clock.advance(5 * MINUTE_MS)
    const assertion = device.authenticate(beginAnswer.data.options as { challenge: string })
    expect(await refusalOf(post(till, 'sign-in/finish', { body: { assertion } }))).toBe('passkey_refused')
  })

  test('of a removed operator is refused, and the sessions of that operator end', async () => {
    const { device, headers } = await signIn(till, name)
    await dismissOperator(till.by('host'), name)
    expect(await refusalOf(whoAmI(headers))).toBe('signed_out')
    expect(await refusalOf(showPasskey(till, { device }))).toBe('passkey_refused')
  })

  test('of one operator does not refresh the session of another', async () => {
    const { headers } = await signIn(till, name)
    const { device } = await signIn(till, `${name} b`)
    expect(await refusalOf(showPasskey(till, { device, headers, at: 'step-up' }))).toBe('passkey_refused')
  })
})

describe('a session', () => {
  test('needs its cookie and its header, because browsers send the cookie to every port of the host', async () => {
    const { headers } = await signIn(till, name)
    const { cookie: _, ...pageOnly } = headers
    const { 'x-console-session': half = '', ...cookieOnly } = headers
    expect(await refusalOf(whoAmI(pageOnly))).toBe('signed_out')
    expect(await refusalOf(whoAmI(cookieOnly))).toBe('signed_out')
    const wrong = { ...headers, 'x-console-session': half.replace(/^./, half.startsWith('A') ? 'B' : 'A') }
    expect(await refusalOf(whoAmI(wrong))).toBe('signed_out')
    const planted = { ...headers, cookie: `${headers.cookie}; __Host-console=${'A'.repeat(43)}` }
    expect(await refusalOf(whoAmI(planted))).toBe('signed_out')
    expect((await whoAmI(headers)).status).toBe(200)
  })

  test('has a cookie that scripts and other hosts cannot read, and that is sent over https only', async () => {
    const answer = await register(till, await linkFor(till, name))
    const cookie = String(answer.headers['set-cookie'])
    expect(cookie).toMatch(
      /^__Host-console=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict; Max-Age=43200$/,
    )
  })

  test('ends 30 minutes after its last use', async () => {
    const { headers } = await signIn(till, name)
    till.clock.advance(29 * MINUTE_MS)
    expect((await whoAmI(headers)).status).toBe(200)
    till.clock.advance(29 * MINUTE_MS)
    expect((await whoAmI(headers)).status).toBe(200)
    till.clock.advance(30 * MINUTE_MS)
    expect(await refusalOf(whoAmI(headers))).toBe('signed_out')
  })

  test('is not extended by a page that only updates itself', async () => {
    const { headers } = await signIn(till, name)
    till.clock.advance(29 * MINUTE_MS)
    expect((await whoAmI({ ...headers, 'x-console-watching': '1' })).status).toBe(200)
    till.clock.advance(MINUTE_MS)
    expect(await refusalOf(whoAmI(headers))).toBe('signed_out')
  })

  test('ends 12 hours after it began, however much it is used', async () => {
    const { headers } = await signIn(till, name)
    for (let n = 0; n < 35; n += 1) {
      till.clock.advance(20 * MINUTE_MS)
      till.advanceLimits(20 * MINUTE_MS)
      expect((await whoAmI(headers)).status).toBe(200)
    }
    till.clock.advance(20 * MINUTE_MS)
    expect(await refusalOf(whoAmI(headers))).toBe('signed_out')
    const { operators = [] } = (await listOperators(till.by('host'))).data ?? {}
    expect(operators.find((operator) => operator.name === name)).toMatchObject({ sessions: 0 })
  })

  test('ends when a clock that was ahead is set right, because nobody knows when it began', async () => {
    till.clock.advance(2 * DAY_MS)
    const { headers } = await signIn(till, name)
    till.clock.advance(-2 * DAY_MS)
    expect(await refusalOf(whoAmI(headers))).toBe('signed_out')
    const { operators = [] } = (await listOperators(till.by('host'))).data ?? {}
    expect(operators.find((operator) => operator.name === name)).toMatchObject({ sessions: 0 })
  })

  test('that began while the clock was ahead does not come back when that time is reached', async () => {
    till.clock.advance(2 * DAY_MS)
    const { headers } = await signIn(till, name)
    const { data } = await post(till, 'sign-in/begin')
    till.clock.advance(-2 * DAY_MS)
    // The next sign-in sweeps the sessions and challenges.
    const { device } = await signIn(till, `${name} b`)
    await showPasskey(till, { device })
    till.clock.advance(2 * DAY_MS)
    expect(await refusalOf(whoAmI(headers))).toBe('signed_out')
    const assertion = device.authenticate(data.options as { challenge: string })
    expect(await refusalOf(post(till, 'sign-in/finish', { body: { assertion } }))).toBe('passkey_refused')
  })

  test('has no fresh check once a clock that was ahead during the check is set right', async () => {
    const { device, headers } = await signIn(till, name)
    const checkedAt = { verified_at: new Date(till.clock.machineNow().getTime() + 2 * DAY_MS) }
    await till.db.updateTable('operator_session').set(checkedAt).execute()
    expect((await whoAmI(headers)).data).toMatchObject({ isFresh: false })
    expect((await showPasskey(till, { device, headers, at: 'step-up' })).status).toBe(200)
    expect((await whoAmI(headers)).data).toMatchObject({ isFresh: true })
  })

  test('ends when its operator signs out, here or everywhere', async () => {
    const { device, headers } = await signIn(till, name)
    const second = sessionOf(await showPasskey(till, { device }))
    const third = sessionOf(await showPasskey(till, { device }))
    const otherPerson = await signIn(till, `${name} b`)
    await post(till, 'sign-out', { headers })
    expect(await refusalOf(whoAmI(headers))).toBe('signed_out')
    expect((await whoAmI(second)).status).toBe(200)
    expect((await post(till, 'sign-out-everywhere', { headers: second })).data).toEqual({ sessions: 2 })
    expect(await refusalOf(whoAmI(second))).toBe('signed_out')
    expect(await refusalOf(whoAmI(third))).toBe('signed_out')
    expect((await whoAmI(otherPerson.headers)).status).toBe(200)
  })
})

describe('a sandbox', () => {
  test('admits its own key without a passkey, and no other key', async () => {
    const answer = await post(till, 'sandbox', { body: { key: SANDBOX_KEY } })
    expect((await whoAmI(sessionOf(answer))).data).toMatchObject({ name: 'sandbox', isSandbox: true })
    const wrong = post(till, 'sandbox', { body: { key: 'x'.repeat(43) } })
    expect(await refusalOf(wrong)).toBe('link_over')
  })
})

const beginFrom = async (remoteAddress: string) => {
  const call = {
    method: 'POST',
    url: '/ops/sign-in/begin',
    headers: OWN_PAGE_HEADERS,
    payload: '{}',
  } as const
  return (await till.app.inject({ ...call, remoteAddress })).statusCode
}

test('sign-in attempts are limited per address and overall, but the calls of a signed-in operator are not', async () => {
  const { headers } = await signIn(till, name)
  const tryKeys = async (times: number) => {
    const kinds: (string | undefined)[] = []
    for (let n = 0; n < times; n += 1)
      kinds.push(await refusalOf(post(till, 'sandbox', { body: { key: 'x'.repeat(43) } })))
    return kinds
  }
  // The limit of an address is 12 attempts at once. The two calls of the registration count too.
  expect(await tryKeys(10)).toEqual(Array.from({ length: 10 }, () => 'link_over'))
  expect(await tryKeys(2)).toEqual(['too_many', 'too_many'])
  expect((await whoAmI(headers)).status).toBe(200)
  // An address gets another attempt every 5 seconds.
  till.advanceLimits(5_000)
  expect(await tryKeys(2)).toEqual(['link_over', 'too_many'])
  // All addresses together have 200 first attempts and 60 others at once. The attempts above used a few of them.
  const statuses: number[] = []
  for (let n = 0; n < 260; n += 1) statuses.push(await beginFrom(`198.51.${100 + (n % 2)}.${n >> 1}`))
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0)
  expect(statuses.slice(0, 230)).toEqual(Array.from({ length: 230 }, () => 200))
})

test.each([
  ['subnets of one IPv6 network', (n: number) => `2001:db8:1:${n.toString(16)}::1`],
  ['twenty IPv4 addresses', (n: number) => `198.51.100.${n % 20}`],
])('sign-in attempts from %s keep no operator from signing in', async (_, addressOf) => {
  let tries = 0
  const attack = async (count: number) => {
    const statuses: number[] = []
    for (let n = 0; n < count; n += 1, tries += 1) statuses.push(await beginFrom(addressOf(tries)))
    return statuses
  }
  expect(await attack(200)).toContain(429)
  for (let second = 0; second < 20; second += 1) {
    till.advanceLimits(1_000)
    expect(await attack(5)).toContain(429)
    expect(await beginFrom(`203.0.113.${second}`)).toBe(200)
  }
})
