/** What `npm run live` does, asked of the sandbox's Steam: the phone of a bot approves the login. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startSteam } from '../../steam-sandbox/start.ts'
import { createSandboxAgent } from '../steam/web/agent.ts'
import { createWebSteam } from '../steam/web/web-steam.ts'
import { checkLive, type LiveSettings } from './live.ts'

let sandbox: Awaited<ReturnType<typeof startSteam>>
beforeAll(async () => {
  sandbox = await startSteam({ port: 0 })
})
afterAll(() => sandbox.close())

const settings = (change: Partial<LiveSettings> = {}): LiveSettings => ({
  refreshToken: '',
  tradeLink: sandbox.as('nova_hound').tradeUrl(),
  game: 'cs',
  item: undefined,
  waits: false,
  ...change,
})

const steamId = (): string => sandbox.world().accounts.find(({ kind }) => kind === 'bot')?.steamId ?? ''

function approve(login: string): void {
  void fetch(`${sandbox.url}/control/logins/${login}/approve`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ steamId: steamId() }),
  })
}

async function said(given: LiveSettings): Promise<string[]> {
  const lines: string[] = []
  const redirect = createSandboxAgent('sandbox', sandbox.url)
  await checkLive(given, {
    sandboxUrl: sandbox.url,
    steam: createWebSteam({ redirect, time: { now: () => performance.now(), pause: async () => {} } }),
    say(line) {
      lines.push(line)
      const [, login] = /https:\/\/s\.team\/q\/\d+\/(\d+)/.exec(line) ?? []
      if (login !== undefined) approve(login)
    },
  })
  return lines
}

it('needs no token: it shows what the phone scans, and the run is of that bot', async () => {
  const lines = await said(settings())
  expect(lines[0]).toContain('Scan this with the Steam app of the bot')
  expect(lines[1]).toMatch(/^ok {2}the session opens/)
  expect(lines.at(-1)).toBe('All of it is true of the real Steam.')
  expect(lines.join()).not.toMatch(/eyJ[\w-]{20}/)
})

it('takes a token that is there, and shows no picture', async () => {
  const refreshToken = sandbox.as(steamId()).refreshToken()
  const [first] = await said(settings({ refreshToken }))
  expect(first).toMatch(/^ok {2}the session opens/)
})

it('says which setting is missing before it asks anything', async () => {
  await expect(said(settings({ tradeLink: '' }))).rejects.toThrow('TRADETILL_LIVE_TRADE_LINK')
})
