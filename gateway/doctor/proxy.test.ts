/** The doctor's findings about a public URL without https, which only a sandbox has, and about the machine's clock. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { askSteamTime } from '../steam/steam-time.ts'
import { proxyFindings } from './proxy.ts'
import { steamClockFindings } from './steam-clock.ts'

it('the checks that need https are not made for a public URL without it', () => {
  const build = { version: '1.2.3', commit: 'abc' }
  const findings = proxyFindings(
    {
      kind: 'answered',
      build,
      caller: { address: '127.0.0.1', protocol: 'http', isProxy: false },
      certificateEndsMs: undefined,
      hsts: null,
      page: { status: 200, encoding: 'br' },
      largeBody: { status: 401, isOurs: true },
      plain: { kind: 'closed' },
    },
    { build, nowMs: 0, publicUrl: new URL('http://localhost:4300') },
  )
  expect(Object.fromEntries(findings.map(({ check, state }) => [check, state]))).toEqual({
    public: 'good',
    'proxy.caller': 'not_checked',
    'proxy.tls': 'not_checked',
    'proxy.hsts': 'not_checked',
    'proxy.compression': 'good',
    'proxy.body': 'good',
    'proxy.http': 'not_checked',
  })
})

/** The finding about a clock that shows 12:00 while Steam answers with `body`. */
async function findingAtNoon(body: string) {
  const server = createServer((_request, answer) => answer.end(body))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const noonMs = Date.parse('2026-11-28T12:00:00Z')
  try {
    const [finding] = steamClockFindings(await askSteamTime(() => noonMs, url))
    return `${finding?.state}: ${finding?.says}`
  } finally {
    server.close()
  }
}

it.each([
  ['12:00:29', 'good: agrees with the clock of Steam'],
  ['11:50:00', 'mend: 10 minutes ahead of the clock of Steam'],
  ['12:00:31', 'mend: 31 seconds behind the clock of Steam'],
])('while Steam’s clock shows %s, a clock at 12:00:00 is judged "%s"', async (steamTime, finding) => {
  const servertime = Date.parse(`2026-11-28T${steamTime}Z`) / 1000
  expect(await findingAtNoon(JSON.stringify({ servertime, servertimestring: 'not read' }))).toBe(finding)
})

it('a clock is not checked if Steam’s answer has no time, or cannot be read', async () => {
  expect(await findingAtNoon('{}')).toBe('not_checked: Steam’s answer has no time')
  expect(await findingAtNoon('<html>')).toMatch(/^not_checked: Steam’s time could not be read: /)
})
