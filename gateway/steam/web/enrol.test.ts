import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { startSteam } from '../../../steam-sandbox/start.ts'
import { createSandboxAgent } from './agent.ts'
import { authenticatorCode } from './authenticator.ts'
import { type LoginWay, obtainToken } from './enrol.ts'
import { createWebSteam } from './web-steam.ts'

const botsSchema = z.array(
  z.object({ steamId: z.string(), accountName: z.string(), password: z.string(), sharedSecret: z.string() }),
)

let sandbox: Awaited<ReturnType<typeof startSteam>>
let bot: z.infer<typeof botsSchema>[number]

beforeEach(async () => {
  sandbox = await startSteam({ port: 0 })
  const [first] = botsSchema.parse(await (await fetch(`${sandbox.url}/control/bots`)).json())
  if (!first) throw new Error('the sandbox has no bot')
  bot = first
})
afterEach(() => sandbox.close())

const agent = () => createSandboxAgent('sandbox', sandbox.url)
const times = { answerMs: 60_000, personMs: 60_000 }

function byPassword(codes: string[], password = bot.password): Extract<LoginWay, { kind: 'password' }> {
  const codesLeft = [...codes]
  return {
    kind: 'password',
    accountName: bot.accountName,
    password,
    code: async () => codesLeft.shift() ?? 'NONE9',
  }
}

async function accountOf(refreshToken: string): Promise<string> {
  const opened = await createWebSteam({ redirect: agent() }).openSession(refreshToken)
  if (opened.kind !== 'open') throw new Error(opened.kind)
  opened.session.close()
  return opened.session.steamId
}

describe('a refresh token', () => {
  it('is issued for the password and the authenticator code, even after a wrong code', async () => {
    const code = authenticatorCode(bot.sharedSecret)
    const answer = await obtainToken(agent(), byPassword(['WRONG', ` ${code.toLowerCase()} `]), times)
    if (answer.kind !== 'token') throw new Error(JSON.stringify(answer))
    expect(await accountOf(answer.refreshToken)).toBe(bot.steamId)
  })

  const control = (address: string, act: 'approve' | 'replace') =>
    fetch(`${sandbox.url}/control/logins/${address.split('/').at(-1)}/${act}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ steamId: bot.steamId }),
    })

  it('is issued after the phone has approved the login', async () => {
    const way: LoginWay = { kind: 'phone', show: (address) => void control(address, 'approve') }
    const answer = await obtainToken(agent(), way, times)
    if (answer.kind !== 'token') throw new Error(JSON.stringify(answer))
    expect(await accountOf(answer.refreshToken)).toBe(bot.steamId)
  })

  it('is issued after the phone has approved the latest of several QR codes that Steam gave one login', async () => {
    const shown: string[] = []
    const way: LoginWay = {
      kind: 'phone',
      show(address) {
        shown.push(address)
        void control(address, shown.length < 3 ? 'replace' : 'approve')
      },
    }
    const answer = await obtainToken(agent(), way, { ...times, personMs: 15_000 })
    expect(answer).toMatchObject({ kind: 'token' })
    expect(new Set(shown).size).toBe(3)
    expect((await control(shown[0] ?? '', 'approve')).status).toBe(404)
  })

  it('is not issued for a wrong password, or after three wrong codes', async () => {
    expect(await obtainToken(agent(), byPassword([], 'wrong'), times)).toEqual({
      kind: 'refused',
      reason: 'wrong_password',
    })
    const codes = ['AAAAA', 'BBBBB', 'CCCCC', authenticatorCode(bot.sharedSecret)]
    expect(await obtainToken(agent(), byPassword(codes), times)).toEqual({
      kind: 'refused',
      reason: 'wrong_code',
    })
  })

  it('is not issued if no phone approves the login', async () => {
    const way: LoginWay = { kind: 'phone', show() {} }
    expect(await obtainToken(agent(), way, { answerMs: 60_000, personMs: 300 })).toEqual({
      kind: 'refused',
      reason: 'not_confirmed',
    })
  })

  it('is not requested for a person who has already given up', async () => {
    const shown: string[] = []
    const way: LoginWay = { kind: 'phone', show: (url) => shown.push(url), signal: AbortSignal.abort() }
    // The answer would otherwise come only after the wait for the person.
    const answer = await obtainToken(agent(), way, { answerMs: 60_000, personMs: 60_000 })
    expect(answer).toEqual({ kind: 'refused', reason: 'not_confirmed' })
    expect(shown).toEqual([])
  })

  it('is not issued while Steam is down or hangs, and no error repeats the password', async () => {
    const fault = (effect: object) =>
      fetch(`${sandbox.url}/control/faults`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ match: { path: '/IAuthenticationService/' }, times: 1, effect }),
      })
    await fault({ hang: 'before' })
    const late = await obtainToken(agent(), byPassword([]), { answerMs: 200, personMs: 200 })
    expect(late).toMatchObject({ kind: 'unavailable', reason: 'timeout' })
    await fault({ status: 503, body: 'down' })
    const down = await obtainToken(agent(), byPassword([]), times)
    expect(down).toMatchObject({ kind: 'unavailable' })
    expect(JSON.stringify([late, down])).not.toContain(bot.password)
  })
})
