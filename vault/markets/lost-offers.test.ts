/**
 * If the answer to a send is lost, the vault gives the offer up only after a look that is late enough for the offer to
 * have appeared on Steam.
 */
import { describe, expect, it } from 'vitest'
import { stepBefore as giftStepBefore } from '../giving/next-step.ts'
import { type DealBeforeOffer, stepBefore as dealStepBefore } from './deal.ts'

const MINUTE_MS = 60_000
const begunAt = new Date(1_800_000_000_000)
const later = (minutes: number) => new Date(begunAt.getTime() + minutes * MINUTE_MS)
const MUCH_LATER = later(600)

const due = {
  dealId: '1',
  partnerSteamId: '76561198000000031',
  token: 'AbC12-_x',
  message: 'm',
  assets: [],
}
const deal = (missed: number, missedAt: Date | null): DealBeforeOffer => ({
  market: 'm',
  account: null,
  due,
  itemIds: ['1'],
  intendedAt: begunAt,
  state: 'unknown',
  begunAt,
  missed,
  missedAt,
})
const giving = (missed: number, missedAt: Date | null): Parameters<typeof giftStepBefore>[0] => ({
  state: 'sending',
  begunAt,
  missed,
  missedAt,
  result: null,
  tries: 1,
  intendedAt: begunAt,
  intended: {
    kind: 'intended',
    wish: '1',
    cause: { kind: 'return' },
    from: '76561198000000011',
    partnerSteamId: due.partnerSteamId,
    sealedToken: 's',
    message: 'm',
    assets: [],
    worthCents: '1',
  },
})

describe.each([
  [
    'of a deal',
    (missed: number, at: Date | null) =>
      dealStepBefore(deal(missed, at), { dueByMs: undefined, now: MUCH_LATER }).kind === 'abandon',
  ],
  [
    'of a wish',
    (missed: number, at: Date | null) =>
      giftStepBefore(giving(missed, at), { now: MUCH_LATER, isAllowed: true }).kind === 'end',
  ],
])('an offer %s, if the answer to its send was lost,', (_, isGivenUp) => {
  it('is given up after three looks, of which the last is late enough for the offer to have appeared', () => {
    expect(isGivenUp(3, later(3))).toBe(true)
    expect(isGivenUp(2, later(3))).toBe(false)
  })

  it('is not given up if the last look was too early or there was none', () => {
    expect(isGivenUp(3, later(1))).toBe(false)
    expect(isGivenUp(0, null)).toBe(false)
  })
})
