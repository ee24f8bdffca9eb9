/** When the vault sends, confirms, waits for and cancels the offer of a gift. */
import { describe, expect, it } from 'vitest'
import { type Offered, stepAfter, stepBefore } from './next-step.ts'

const MINUTE_MS = 60_000
const NOW = new Date(1_800_000_000_000)
const ago = (minutes: number) => new Date(NOW.getTime() - minutes * MINUTE_MS)

const intended: Offered['intended'] = {
  kind: 'intended',
  wish: '1',
  cause: { kind: 'send', to: 'storage' },
  from: '76561198000000011',
  partnerSteamId: '76561198000000021',
  sealedToken: 's',
  message: 'm',
  assets: [{ appId: 730, contextId: '2', assetId: '1' }],
  worthCents: '1',
}
const offered = (minutesAgo: number): Offered => ({
  state: 'offered',
  intended,
  intendedAt: ago(60),
  offerId: '7',
  knownAt: ago(minutesAgo),
  isConfirmed: true,
})

it('a gift is sent only while the files of the vault allow it', () => {
  const giving = { state: 'intended', intended, intendedAt: NOW, tries: 0, triedAt: null } as const
  expect(stepBefore(giving, { now: NOW, isAllowed: true })).toEqual({ kind: 'send' })
  expect(stepBefore(giving, { now: NOW, isAllowed: false })).toEqual({
    kind: 'end',
    because: 'no_longer_allowed',
  })
})

it.each([
  [1, 0.9, 'wait'],
  [1, 1, 'send'],
  [5, 4.9, 'wait'],
  [5, 5, 'send'],
  // The clock was set back after the try.
  [5, -6, 'send'],
  [6, 0, 'end'],
] as const)(
  'after %i tries without a session, the last of them %d minutes ago, the step is to %s',
  (tries, minutes, kind) => {
    const giving = { state: 'intended', intended, intendedAt: ago(60), tries, triedAt: ago(minutes) } as const
    expect(stepBefore(giving, { now: NOW, isAllowed: true }).kind).toBe(kind)
  },
)

describe('an offer', () => {
  it.each([
    ['that needs a confirmation is confirmed', 'needs_confirmation', 9, true, 'confirm'],
    ['that could not be confirmed in time is cancelled', 'needs_confirmation', 10, true, 'cancel'],
    [
      'that needs a confirmation, but is no longer allowed, is cancelled',
      'needs_confirmation',
      0,
      false,
      'cancel',
    ],
    ['waits for its partner', 'active', 29, true, 'wait'],
    ['that its partner does not accept in time is cancelled', 'active', 30, true, 'cancel'],
    // The clock was set back.
    [
      'that needs a confirmation, but seems to come from the future, is cancelled',
      'needs_confirmation',
      -10,
      true,
      'cancel',
    ],
    ['that is open, but seems to come from the future, is cancelled', 'active', -30, true, 'cancel'],
    ['that is no longer allowed is cancelled', 'active', 0, false, 'cancel'],
    ['in escrow is never cancelled', 'in_escrow', 6_000, false, 'wait'],
  ] as const)('%s', (_what, state, minutesAgo, isAllowed, kind) => {
    expect(stepAfter(offered(minutesAgo), { state }, { now: NOW, isAllowed })).toEqual({ kind })
  })

  it('that was accepted makes the vault read its trade, even if the gift is no longer allowed', () => {
    const seen = (steamTradeId: string | null) => ({ state: 'accepted', steamTradeId }) as const
    const facts = { now: NOW, isAllowed: false }
    expect(stepAfter(offered(60), seen('5'), facts)).toEqual({ kind: 'prove', steamTradeId: '5' })
    expect(stepAfter(offered(60), seen(null), facts)).toEqual({ kind: 'wait' })
  })

  it('that ended without a trade ends the gift', () => {
    const step = stepAfter(offered(1), { state: 'ended', how: 'declined' }, { now: NOW, isAllowed: true })
    expect(step).toEqual({ kind: 'end', because: 'declined' })
  })
})
