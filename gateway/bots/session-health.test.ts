import { describe, expect, it } from 'vitest'
import type { OfferAnswer, SteamSession } from '../steam/steam.ts'
import { observeSession } from './session-health.ts'

const good: OfferAnswer = { kind: 'missing' }
const down: OfferAnswer = { kind: 'unavailable', reason: 'timeout', detail: 'late' }
const limited: OfferAnswer = { kind: 'unavailable', reason: 'rate_limited', detail: 'HTTP 429' }
const dead: OfferAnswer = { kind: 'unavailable', reason: 'session_dead', detail: 'token refused' }

const unasked = () => Promise.reject(new Error('not part of this test'))

/** Returns the reports after these answers, each that many ms after the one before. */
async function reportsAfter(answers: [OfferAnswer, number][]): Promise<string[]> {
  const reports: string[] = []
  let nowMs = 0
  let next = good
  const session: SteamSession = {
    steamId: '76561198000000001',
    readOffer: async () => next,
    checkPartner: unasked,
    readInventory: unasked,
    sendOffer: unasked,
    listSentOffers: unasked,
    cancelOffer: unasked,
    declineOffer: unasked,
    readSteamTrade: unasked,
    listSteamTrades: unasked,
    acknowledgeProtection: unasked,
    close() {},
  }
  const watched = observeSession(session, {
    monotonicMs: () => nowMs,
    report: (trouble) => reports.push(trouble),
    see() {},
    reading() {},
  })
  for (const [answer, afterMs] of answers) {
    nowMs += afterMs
    next = answer
    expect(await watched.readOffer('1')).toBe(answer)
  }
  return reports
}

describe('a session is reported', () => {
  it('at once when its token is dead', async () => {
    expect(await reportsAfter([[dead, 0]])).toEqual(['session_dead'])
  })

  it('out of reach after three failures in a row over five seconds', async () => {
    expect(
      await reportsAfter([
        [down, 0],
        [down, 2_500],
        [down, 2_500],
      ]),
    ).toEqual(['out_of_reach'])
  })
})

describe('a session is not reported', () => {
  it('for failures that come quickly, are few, or are broken by a success', async () => {
    expect(
      await reportsAfter([
        [down, 0],
        [down, 10],
        [down, 10],
      ]),
    ).toEqual([])
    expect(
      await reportsAfter([
        [down, 0],
        [down, 60_000],
      ]),
    ).toEqual([])
    expect(
      await reportsAfter([
        [down, 0],
        [down, 5_000],
        [good, 0],
        [down, 5_000],
      ]),
    ).toEqual([])
  })

  it('for limits, which a new session would only tighten', async () => {
    expect(
      await reportsAfter([
        [limited, 0],
        [limited, 5_000],
        [limited, 5_000],
      ]),
    ).toEqual([])
  })
})
