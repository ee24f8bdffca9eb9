/** Logins of bots in the console, approved by the sandbox's phones. They enrol a bot or renew its token. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { startSteam } from '../../steam-sandbox/start.ts'
import type { Authenticator } from '../testing/authenticator.ts'
import { post, showPasskey, signIn, startConsole, type TestConsole } from '../testing/console.ts'

const botsSchema = z.array(z.object({ name: z.string(), steamId: z.string() }))

type Person = { headers: Record<string, string>; device: Authenticator }

let sandbox: Awaited<ReturnType<typeof startSteam>>
let till: TestConsole
let ada: Person
let firstSteamId: string
let secondSteamId: string

beforeAll(async () => {
  sandbox = await startSteam({ port: 0 })
  const url = sandbox.url.replace('localhost', '127.0.0.1')
  till = await startConsole(undefined, { TRADETILL_STEAM_SANDBOX_URL: url })
  ada = await signIn(till, 'Ada')
  const bots = botsSchema.parse(await (await fetch(`${sandbox.url}/control/bots`)).json())
  firstSteamId = bots[0]?.steamId ?? ''
  secondSteamId = bots[1]?.steamId ?? ''
})
afterAll(async () => {
  await till.close()
  await sandbox.close()
})
beforeEach(() => till.advanceLimits(60_000))
afterEach(() => till.db.deleteFrom('bot').execute())

const begin = (input: object = {}, { headers } = ada) =>
  post(till, 'login/begin', { headers, body: { reason: 'a new bot', input } })
const look = (loginId: unknown, { headers } = ada) => post(till, 'login/look', { headers, body: { loginId } })
const end = (loginId: unknown, { headers } = ada) => post(till, 'login/end', { headers, body: { loginId } })

async function control(address: unknown, act: 'approve' | 'replace', body: object): Promise<void> {
  const clientId = /^https:\/\/s\.team\/q\/\d+\/(\d+)$/.exec(String(address))?.[1]
  const answer = await fetch(`${sandbox.url}/control/logins/${clientId}/${act}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(answer.ok).toBe(true)
}

/** Approves the login with the phone of this account. */
const approve = (address: unknown, steamId: string) => control(address, 'approve', { steamId })

/** Waits until the login is over, and resolves to its result. */
async function outcome(loginId: unknown, person = ada) {
  const isOver = async () => {
    till.advanceLimits(1_000)
    const answer = await look(loginId, person)
    return answer.status !== 200 || answer.data.botId !== null ? answer : undefined
  }
  await expect.poll(isOver, { timeout: 60_000 }).toBeDefined()
  return look(loginId, person)
}

const botRows = () =>
  till.db.selectFrom('bot').select(['id', 'steam_id', 'refresh_token']).orderBy('id').execute()
const lastAct = async () =>
  till.db
    .selectFrom('operator_act')
    .select(['act', 'operator', 'arguments', 'reason'])
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()

async function enrolBot(): Promise<bigint> {
  const { data } = await begin()
  await approve(data.address, firstSteamId)
  return BigInt(String((await outcome(data.loginId)).data.botId))
}

test('a bot is enrolled after its account’s phone approves, and neither answer nor record has the token', async () => {
  const { status, data } = await begin()
  expect(status).toBe(200)
  expect(await look(data.loginId)).toMatchObject({ status: 200, data: { botId: null } })
  expect(await botRows()).toEqual([])
  await approve(data.address, firstSteamId)
  expect(await outcome(data.loginId)).toMatchObject({ status: 200, data: { steamId: firstSteamId } })
  expect(await botRows()).toMatchObject([{ steam_id: firstSteamId }])
  expect(await lastAct()).toEqual({
    act: 'bot enrol',
    operator: 'Ada',
    arguments: { botId: expect.any(String), steamId: firstSteamId },
    reason: 'a new bot',
  })
  // The tokens of the sandbox's Steam begin with this.
  expect(JSON.stringify(await outcome(data.loginId))).not.toContain('eyJ')
  await end(data.loginId)
  expect((await look(data.loginId)).status).toBe(404)
})

test('a code with which Steam replaces the shown one is given to the page, and enrols the bot', async () => {
  const { data } = await begin()
  await control(data.address, 'replace', {})
  const replaced = async () => {
    till.advanceLimits(1_000)
    const { address } = (await look(data.loginId)).data
    return address === data.address ? undefined : address
  }
  await expect.poll(replaced, { timeout: 30_000 }).toMatch(/^https:\/\/s\.team\/q\/1\/\d+$/)
  await approve(await replaced(), firstSteamId)
  expect(await outcome(data.loginId)).toMatchObject({ status: 200, data: { steamId: firstSteamId } })
  await end(data.loginId)
})

test('a bot’s token can be renewed only by the phone of the bot’s own account', async () => {
  const bot = String(await enrolBot())
  const [before] = await botRows()
  const wrong = (await begin({ bot })).data
  await approve(wrong.address, secondSteamId)
  expect(await outcome(wrong.loginId)).toMatchObject({
    status: 409,
    error: { message: expect.stringContaining('Another account approved') },
  })
  expect(await botRows()).toEqual([before])
  const right = (await begin({ bot })).data
  await approve(right.address, firstSteamId)
  expect(await outcome(right.loginId)).toMatchObject({ status: 200, data: { steamId: firstSteamId } })
  const after = await botRows()
  expect(after).toHaveLength(1)
  expect(after[0]?.refresh_token).not.toEqual(before?.refresh_token)
  expect(await lastAct()).toMatchObject({ act: 'bot renew', operator: 'Ada' })
})

test('an operator who is signed out before the phone approves adds no bot', async () => {
  const eve = await signIn(till, 'Eve')
  const { loginId, address } = (await begin({}, eve)).data
  await post(till, 'sign-out-everywhere', { headers: eve.headers })
  await approve(address, secondSteamId)
  const back = await showPasskey(till, { device: eve.device })
  expect(back.status).toBe(200)
  const [cookie = ''] = String(back.headers['set-cookie']).split(';')
  const headers = { ...eve.headers, cookie, 'x-console-session': String(back.data.session) }
  const answer = await outcome(loginId, { ...eve, headers })
  expect(answer).toMatchObject({ status: 409, error: { message: expect.stringContaining('signed out') } })
  expect(await botRows()).toEqual([])
})

test('a login belongs to its operator, who can have three at a time', async () => {
  const grace = await signIn(till, 'Grace')
  const logins = [await begin(), await begin(), await begin()]
  expect(logins.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(await begin()).toMatchObject({ status: 409, error: { kind: 'conflict' } })
  const loginId = logins[0]?.data.loginId
  expect((await look(loginId, grace)).status).toBe(404)
  await end(loginId, grace)
  expect((await look(loginId)).status).toBe(200)
  for (const { data } of logins) await end(data.loginId)
  const again = await begin()
  expect(again.status).toBe(200)
  await end(again.data.loginId)
})

test.each([
  ['for a bot that does not exist', { bot: '99' }, 404, 'There is no bot 99'],
  ['with an invalid link', { checkWith: 'https://example.test/' }, 400, 'must be a trade link'],
])('a login %s is refused', async (_title, input, status, message) => {
  expect(await begin(input)).toMatchObject({ status, error: { message: expect.stringContaining(message) } })
})

test('the role support cannot begin a login, and an operator can for a few minutes after showing a passkey', async () => {
  const support = await signIn(till, 'Sam', 'support')
  expect(await begin({}, support)).toMatchObject({ status: 403, error: { kind: 'forbidden' } })
  till.clock.advance(6 * 60_000)
  expect(await begin()).toMatchObject({ status: 403, error: { kind: 'step_up' } })
  expect((await showPasskey(till, { ...ada, at: 'step-up' })).status).toBe(200)
  const { status, data } = await begin()
  expect(status).toBe(200)
  await end(data.loginId)
})
