/** A fake of the Steam port: gives the answers that the test sets, and counts some calls. */
import type { SessionAnswer, Steam, SteamSession } from '../steam/steam.ts'

export const BOT_STEAM_ID = '76561198000000001'
export const BOT_TOKEN = 'refresh-token-of-the-bot'
export const STEAM_DOWN = { kind: 'unavailable', reason: 'steam_error', detail: 'ECONNREFUSED' } as const

export type CountingSteam = ReturnType<typeof countingSteam>

export function countingSteam() {
  const fake = {
    /** How many sessions are open now, the most that were open at once, and how many were opened. */
    open: 0,
    mostOpen: 0,
    openings: 0,
    refusals: 0,
    acknowledgements: 0,
    profileReads: 0,
    memberSince: '2015-03-09' as string | null,
    level: 7,
    /** How Steam answers when a session is opened. `down`: not at all. `dead`: it refuses the token. */
    session: 'open' as 'open' | 'down' | 'dead',
    /**
     * How Steam answers the calls of an open session, except sends. `down`: not at all. `dead`: the session has ended
     * for good.
     */
    answers: 'good' as 'good' | 'down' | 'dead',
    /** How many of the next lists of offers come back empty. */
    emptyLists: 0,
    async openSession(refreshToken: string): Promise<SessionAnswer> {
      if (fake.session === 'down') return STEAM_DOWN
      if (fake.session === 'dead' || refreshToken !== BOT_TOKEN) {
        fake.refusals += 1
        return { kind: 'refused', reason: 'token_dead' }
      }
      fake.open += 1
      fake.openings += 1
      fake.mostOpen = Math.max(fake.mostOpen, fake.open)
      return { kind: 'open', session: fakeSession(), expiresAt: new Date('2027-05-01T00:00:00Z') }
    },
    async readProfile(steamId: string) {
      fake.profileReads += 1
      const { level, memberSince } = fake
      const profile = { steamId, name: 'Bot #1', avatarUrl: '/a.jpg', profileUrl: '/p', level, memberSince }
      return { kind: 'profile' as const, profile }
    },
  }
  const answer = async <T>(good: T) => {
    if (fake.answers === 'dead') return { ...STEAM_DOWN, reason: 'session_dead' as const }
    return fake.answers === 'down' ? STEAM_DOWN : good
  }
  function fakeSession(): SteamSession {
    return {
      steamId: BOT_STEAM_ID,
      checkPartner: () => answer({ kind: 'ok', holdDays: { partner: 0, own: 0 } } as const),
      readInventory: () => answer({ kind: 'refused', reason: 'no_items' } as const),
      readOwnInventory: () => answer({ kind: 'items' as const, items: [], isComplete: true }),
      sendOffer: async () => ({ kind: 'sent', offerId: '1' }),
      readOffer: () => answer({ kind: 'missing' } as const),
      listOffers: () => {
        if (fake.emptyLists === 0)
          return answer({ kind: 'offers' as const, sent: [], received: [], unreadable: [], next: null })
        fake.emptyLists -= 1
        return answer({ kind: 'nothing' } as const)
      },
      cancelOffer: () => answer({ kind: 'done' } as const),
      declineOffer: () => answer({ kind: 'done' } as const),
      readSteamTrade: () => answer({ kind: 'missing' } as const),
      listSteamTrades: () => answer({ kind: 'trades' as const, trades: [], unreadable: 0, next: null }),
      acknowledgeProtection: () => {
        fake.acknowledgements += 1
        return answer({ kind: 'done' } as const)
      },
      close() {
        fake.open -= 1
      },
    }
  }
  return fake satisfies Steam
}
