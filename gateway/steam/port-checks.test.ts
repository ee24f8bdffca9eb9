import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startSteam } from '../../steam-sandbox/start.ts'
import { systemClock } from '../kit/clock.ts'
import { checkPort, type PortChecks } from './port-checks.ts'
import { createSandboxAgent } from './web/agent.ts'
import { createWebSteam } from './web/web-steam.ts'

/** Skips the waits for turns, to keep the tests fast. The sandbox may then refuse a request as one too many. */
const WITHOUT_WAITS = { now: () => performance.now(), pause: async () => {} }

let sandbox: Awaited<ReturnType<typeof startSteam>>
let passed: string[]

beforeEach(async () => {
  sandbox = await startSteam({ port: 0 })
  passed = []
})
afterEach(() => sandbox.close())

function checksOf(smoke?: PortChecks['smoke']): PortChecks {
  const shopper = sandbox.as('nova_hound')
  const bot = sandbox.world().accounts.find(({ kind }) => kind === 'bot')
  return {
    steam: createWebSteam({ redirect: createSandboxAgent('sandbox', sandbox.url), time: WITHOUT_WAITS }),
    refreshToken: sandbox.as(bot?.steamId ?? '').refreshToken(),
    partner: { steamId: shopper.steamId, token: new URL(shopper.tradeUrl()).searchParams.get('token') ?? '' },
    game: 'cs',
    clock: systemClock,
    pause: async () => {},
    onPassed: (what) => passed.push(what),
    ...(smoke ? { smoke } : {}),
  }
}

describe('the checks of npm run live', () => {
  it('pass against the sandbox, with an offer that is cancelled', async () => {
    await checkPort(checksOf({ choose: ([first]) => first }))
    expect(passed.at(-1)).toBe('the offer is cancelled, and Steam shows that')
    // One for each check of a run that cancels its offer.
    expect(passed).toHaveLength(14)
  })

  it('pass with an offer that is accepted', async () => {
    const accept = async ({ offerId }: { offerId: string }) => {
      sandbox.as('nova_hound').accept(offerId)
    }
    await checkPort(checksOf({ choose: ([first]) => first, accept }))
    expect(passed.at(-1)).toBe('an accepted offer cannot be cancelled')
  })

  it('pass for a bot that must acknowledge the notice about trade protection first', async () => {
    const bot = sandbox.world().accounts.find(({ kind }) => kind === 'bot')
    await fetch(`${sandbox.url}/control/behaviours/must-acknowledge`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ steamId: bot?.steamId }),
    })
    const checks = checksOf({ choose: ([first]) => first })
    const opened = await checks.steam.openSession(checks.refreshToken)
    if (opened.kind !== 'open') throw new Error(opened.kind)
    const assets = [
      { appId: 730, contextId: '2', assetId: sandbox.as('nova_hound').tradable(730)[0]?.assetId ?? '' },
    ]
    expect(await opened.session.sendOffer(checks.partner, assets, 'A')).toMatchObject({ kind: 'unknown' })
    opened.session.close()
    expect(sandbox.world().offers).toEqual([])
    await checkPort(checks)
    expect(passed.at(-1)).toBe('the offer is cancelled, and Steam shows that')
  })

  it('send no offer unless told to, and name the check that failed', async () => {
    const checks = checksOf()
    await checkPort(checks)
    expect(sandbox.world().offers).toEqual([])
    await expect(checkPort({ ...checks, partner: { ...checks.partner, token: 'wrongone' } })).rejects.toThrow(
      'not true: the partner can trade (refused, invalid_token)',
    )
  })
})
