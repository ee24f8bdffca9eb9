import { describe, expect, it } from 'vitest'
import type { OfferAnswer, SteamSession } from '../steam/steam.ts'
import { observeSession } from './session-health.ts'

const good: OfferAnswer = { kind: 'missing' }
const down: OfferAnswer = { kind: 'unavailable', reason: 'timeout', detail: 'late' }
const limited: OfferAnswer = { kind: 'unavailable', reason: 'rate_limited', detail: 'HTTP 429' }
const heldBack: OfferAnswer = { kind: 'unavailable', reason: 'not_our_turn', detail: 'GetTradeOffer' }
const dead: OfferAnswer = { kind: 'unavailable', reason: 'session_dead', detail: 'token refused' }

const notCalled = () => Promise.reject(new Error('not part of this test'))

/** Returns the reports after these answers, and how many answers `onAnswer` received. */
async function reportsAfter(answers: OfferAnswer[]): Promise<{ reports: string[]; seen: number }> {
  const reports: string[] = []
  let seen = 0
  let nextAnswer = good
  const session: SteamSession = {
    steamId: '76561198000000001',
    readOffer: async () => nextAnswer,
    checkPartner: notCalled,
    readInventory: notCalled,
    readOwnInventory: notCalled,
    sendOffer: notCalled,
    listOffers: notCalled,
    cancelOffer: notCalled,
    declineOffer: notCalled,
    readSteamTrade: notCalled,
    listSteamTrades: notCalled,
    acknowledgeProtection: notCalled,
    close() {},
  }
  const observed = observeSession(session, {
    report: (detail) => reports.push(detail),
    onAnswer: () => {
      seen += 1
    },
    onRead() {},
  })
  for (const answer of answers) {
    nextAnswer = answer
    expect(await observed.readOffer('1')).toBe(answer)
  }
  return { reports, seen }
}

describe('a session', () => {
  it('is reported when Steam refuses to renew it', async () => {
    expect(await reportsAfter([good, dead])).toEqual({ reports: ['token refused'], seen: 2 })
  })

  it.each([
    ['a call fails', down],
    ['Steam limits us', limited],
    ['our own limits hold a call back', heldBack],
  ])('is not reported, however often %s', async (_, answer) => {
    expect(await reportsAfter(Array(50).fill(answer))).toEqual({ reports: [], seen: 50 })
  })
})
