import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { credentialsOf } from '../../steam-sandbox/credentials.ts'
import { startSteam } from '../../steam-sandbox/start.ts'
import { steamRecord } from '../steam/record-file.ts'
import { createSandboxAgent } from '../steam/web/agent.ts'
import { replay } from '../testing/steam-replay.ts'
import { checkLive, type LiveSettings } from './live.ts'
import { createTerminal } from './terminal.ts'

let sandbox: Awaited<ReturnType<typeof startSteam>>
beforeAll(async () => {
  sandbox = await startSteam({ port: 0 })
})
afterAll(() => sandbox.close())

const settings = (change: Partial<LiveSettings> = {}): LiveSettings => ({
  refreshToken: '',
  usesPassword: false,
  tradeLink: sandbox.as('nova_hound').tradeUrl(),
  game: 'cs',
  item: undefined,
  waitsForAccept: false,
  recordInto: undefined,
  ...change,
})

/** The beginning of a token of the sandbox's Steam. */
const TOKEN = /eyJ[\w-]{20}/

const botSteamId = (): string => sandbox.world().accounts.find(({ kind }) => kind === 'bot')?.steamId ?? ''

function approve(login: string): void {
  void fetch(`${sandbox.url}/control/logins/${login}/approve`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ steamId: botSteamId() }),
  })
}

async function linesOf(liveSettings: LiveSettings, typed = ''): Promise<string[]> {
  const lines: string[] = []
  const questions = new PassThrough().resume()
  const redirect = createSandboxAgent('sandbox', sandbox.url)
  await checkLive(liveSettings, {
    sandboxUrl: sandbox.url,
    terminal: createTerminal({ stdin: Readable.from([typed]), stdout: questions, stderr: questions }),
    options: { redirect, time: { now: () => performance.now(), pause: async () => {} } },
    say(line) {
      lines.push(line)
      const [, login] = /https:\/\/s\.team\/q\/\d+\/(\d+)/.exec(line) ?? []
      if (login !== undefined) approve(login)
    },
  })
  return lines
}

describe('npm run live', () => {
  it('needs no token: it shows a QR code, and runs as the bot that approves', async () => {
    const lines = await linesOf(settings())
    expect(lines[0]).toContain("Scan this with the bot's Steam app")
    expect(lines[1]).toMatch(/^ok {2}the session opens/)
    expect(lines.at(-1)).toBe('All checks passed on the real Steam.')
    expect(lines.join()).not.toMatch(TOKEN)
  })

  it('asks for name, password and code if told to, for a bot without a Steam app', async () => {
    const bot = sandbox.world().accounts.find(({ kind }) => kind === 'bot')
    if (bot === undefined) throw new Error('the sandbox has no bot')
    const { accountName, password, sharedSecret } = credentialsOf(bot)
    const typed = `${accountName}\n${password}\n${sharedSecret}\n`
    const lines = await linesOf(settings({ usesPassword: true }), typed)
    expect(lines[0]).toMatch(/^ok {2}the session opens/)
    expect(lines.join()).not.toMatch(TOKEN)
  })

  it('uses a given token and shows no QR code', async () => {
    const refreshToken = sandbox.as(botSteamId()).refreshToken()
    const [first] = await linesOf(settings({ refreshToken }))
    expect(first).toMatch(/^ok {2}the session opens/)
  })

  it('names the missing setting', async () => {
    await expect(linesOf(settings({ tradeLink: '' }))).rejects.toThrow('TRADETILL_LIVE_TRADE_LINK')
  })

  it('writes a record if told to, even of a run that fails', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tradetill-record-'))
    const working = settings({
      refreshToken: sandbox.as(botSteamId()).refreshToken(),
      recordInto: join(folder, 'new'),
    })
    const lines = await linesOf(working)
    const [name = ''] = await readdir(join(folder, 'new'))
    expect(lines.at(-2)).toBe(`A record of what Steam answered is in ${join(folder, 'new', name)}`)
    const record = steamRecord.parse(JSON.parse(await readFile(join(folder, 'new', name), 'utf8')))
    expect(record).toMatchObject({ game: 'cs', item: null, isComplete: true, passed: lines.length - 2 })
    expect(await replay(record)).toMatchObject({ failure: undefined, unsent: [] })

    const failing = settings({ ...working, item: '1', recordInto: join(folder, 'failed') })
    await expect(linesOf(failing)).rejects.toThrow('the item to ask for is missing, or not tradable')
    const [failed = ''] = await readdir(join(folder, 'failed'))
    // To choose the item, the inventory is read a second time, so one more check passes before the failure.
    expect(JSON.parse(await readFile(join(folder, 'failed', failed), 'utf8'))).toMatchObject({
      isComplete: false,
      passed: lines.length - 1,
    })
    await rm(folder, { recursive: true })
  })

  it('keeps its process alive while it waits for Steam', async () => {
    const root = join(import.meta.dirname, '../..')
    const outside = `file://${root}/proofs/live/steam-from-outside.mjs?port=${new URL(sandbox.url).port}`
    const { stdout } = await promisify(execFile)(process.execPath, ['scripts/live.ts'], {
      cwd: root,
      env: {
        NODE_OPTIONS: `--import=${outside}`,
        TRADETILL_LIVE_REFRESH_TOKEN: sandbox.as(botSteamId()).refreshToken(),
        TRADETILL_LIVE_TRADE_LINK: sandbox.as('nova_hound').tradeUrl(),
      },
    })
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('All checks passed on the real Steam.')
  })
})
