/** `bot renew`, on a real database and the sandbox's phones. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { startSteam } from '../../steam-sandbox/start.ts'
import { runCommand } from '../testing/command.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'

const botSchema = z.object({ name: z.string(), steamId: z.string(), refreshToken: z.string() })

let database: TestDatabase
let sandbox: Awaited<ReturnType<typeof startSteam>>
let bots: z.infer<typeof botSchema>[]

beforeEach(async () => {
  database = await testDatabase()
  sandbox = await startSteam({ port: 0 })
  bots = z.array(botSchema).parse(await (await fetch(`${sandbox.url}/control/bots`)).json())
  const tokens = bots.map(({ refreshToken }) => refreshToken).join('\n')
  await run(['bot', 'add'], { input: tokens })
})
afterEach(async () => {
  await sandbox.close()
  await database.close()
})

const run = (args: string[], more: { input?: string; onStderr?: (text: string) => void } = {}) =>
  runCommand(args, {
    databaseUrl: database.url,
    env: { TRADETILL_STEAM_SANDBOX_URL: sandbox.url.replace('localhost', '127.0.0.1') },
    ...more,
  })

/** Returns a listener that approves each QR code shown, with the next of these accounts. */
function phones(...steamIds: (string | undefined)[]) {
  const waiting = [...steamIds]
  return (text: string): void => {
    const clientId = clientIdIn(text)
    if (clientId !== undefined) control(clientId, 'approve', { steamId: waiting.shift() })
  }
}

const clientIdIn = (text: string) => /https:\/\/s\.team\/q\/\d+\/(\d+)/.exec(text)?.[1]

const control = (clientId: string, act: 'approve' | 'replace', body: object) =>
  void fetch(`${sandbox.url}/control/logins/${clientId}/${act}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

const setTokenEnd = (botId: number, days: number) =>
  database.pool.query(`update bot set token_expires_at = now() + $2 * interval '1 day' where id = $1`, [
    botId,
    days,
  ])

type Row = { id: string; token: string; state: string; days: number }
async function botRows(): Promise<Row[]> {
  const found = await database.pool.query<Row>(
    `select id::text, encode(refresh_token, 'hex') as token, state,
       extract(day from token_expires_at - now())::int as days from bot order by id`,
  )
  return found.rows
}
const steamIdOf = (index: number) => bots[index]?.steamId

describe('bot renew', () => {
  it('renews, one by one, every bot that is dead or whose token expires within 30 days', async () => {
    await setTokenEnd(1, 29)
    await database.pool.query(`update bot set state = 'dead' where id = 2`)
    const before = await botRows()
    const result = await run(['bot', 'renew', '--by', 'Ada'], {
      onStderr: phones(steamIdOf(0), steamIdOf(1)),
    })
    expect(result).toEqual({
      code: 0,
      out: `Bot 1 renewed: ${bots[0]?.name} (${steamIdOf(0)}).\nBot 2 renewed: ${bots[1]?.name} (${steamIdOf(1)}).\n`,
      errors: expect.any(String),
    })
    const after = await botRows()
    expect(after.map(({ token }, index) => token !== before[index]?.token)).toEqual([true, true])
    expect(after.map(({ state }) => state)).toEqual(['active', 'active'])
    expect(after[0]?.days).toBeGreaterThan(30)
    const acts = await database.pool.query(
      `select act, operator, arguments from operator_act where act = 'bot renew' order by id`,
    )
    expect(acts.rows).toMatchObject([
      { operator: 'Ada', arguments: { botId: '1', steamId: steamIdOf(0) } },
      { operator: 'Ada', arguments: { botId: '2', steamId: steamIdOf(1) } },
    ])
    await setTokenEnd(1, 31)
    expect(await run(['bot', 'renew'])).toMatchObject({
      code: 0,
      out: 'No bot is dead, and no token expires within 30 days. To renew another bot, such as one whose token Steam has just refused, name it: bot renew 1.\n',
    })
  })

  it('draws a QR code in its own colours, whatever colours the terminal has', async () => {
    const { errors } = await run(['bot', 'renew', '1'], { onStderr: phones(steamIdOf(0)) })
    expect(errors).toContain(`Bot 1, ${bots[0]?.name} (${steamIdOf(0)}): Scan this`)
    const codeLines = errors.split('\n').filter((line) => line.startsWith('\u001b[97;40m'))
    // The first line is the white border of the code.
    expect(codeLines[0]).toMatch(/█{20,}/)
    expect(codeLines.length).toBeGreaterThan(14)
    expect(codeLines.every((line) => line.endsWith('\u001b[0m'))).toBe(true)
  })

  it('shows the code with which Steam replaces the first one, and says so', async () => {
    const approve = phones(steamIdOf(0))
    let codes = 0
    const onStderr = (text: string): void => {
      const clientId = clientIdIn(text)
      if (clientId === undefined) return
      codes += 1
      if (codes === 1) control(clientId, 'replace', {})
      else approve(text)
    }
    const { code, errors } = await run(['bot', 'renew', '1'], { onStderr })
    expect([code, codes]).toEqual([0, 2])
    expect(errors).toContain('Steam has replaced the QR code, so scan this one with the Steam app')
  })

  it('changes nothing if another account approves, and continues with the next bot', async () => {
    const before = await botRows()
    const result = await run(['bot', 'renew', '1', steamIdOf(1) ?? ''], {
      onStderr: phones(steamIdOf(1), steamIdOf(1)),
    })
    expect(result).toMatchObject({ code: 4, errors: expect.stringContaining('1 not renewed') })
    expect(result.out).toContain(
      `Bot 1: Another account approved the login: ${bots[1]?.name} (${steamIdOf(1)}).`,
    )
    expect(result.out).toContain('Bot 2 renewed')
    const after = await botRows()
    expect(after.map(({ token }, index) => token !== before[index]?.token).slice(0, 2)).toEqual([false, true])
  })

  it('says for each bot that Steam’s answers about its offers were empty', async () => {
    sandbox.begin('offers-not-there')
    const { out } = await run(['bot', 'renew', '1', '2'], { onStderr: phones(steamIdOf(0), steamIdOf(1)) })
    expect(out.match(/answers about its offers were empty/g)).toHaveLength(2)
  })

  it('leaves a bot paused whose token Steam refused while it was paused, until an operator resumes it', async () => {
    const die = () => database.pool.query(`update bot set state = 'dead' where id = 1`)
    const renew = async () => {
      await die()
      expect(await run(['bot', 'renew', '1'], { onStderr: phones(steamIdOf(0)) })).toMatchObject({ code: 0 })
      return (await botRows())[0]?.state
    }
    await run(['bot', 'pause', '1'])
    expect(await renew()).toBe('paused')
    await run(['bot', 'pause', '2'])
    await run(['bot', 'resume', '1'])
    expect(await renew()).toBe('active')
  })

  it('leaves a paused bot paused, and refuses an unknown bot', async () => {
    await run(['bot', 'pause', '1'])
    expect(await run(['bot', 'renew', '1'], { onStderr: phones(steamIdOf(0)) })).toMatchObject({ code: 0 })
    expect((await botRows())[0]?.state).toBe('paused')
    const unknown = await run(['bot', 'renew', '1', '99'])
    expect(unknown).toMatchObject({ code: 3, errors: expect.stringContaining('There is no bot 99') })
  })
})
