import { expect, it } from 'vitest'
import { createGiftOffers } from './gift-offers.ts'
import type { Session } from './session.ts'

const UNDOING_STATUS = 8
const DAY_S = 86_400
const GIFT = { partnerSteamId: '76561198000000001', token: 'abcdefgh', message: 'wish 1', assets: [] }

it('a trade that Steam does not finish is named by its own number while its offer is unknown, as after a restart', async () => {
  const trade = { tradeid: '77', steamid_other: GIFT.partnerSteamId, status: UNDOING_STATUS }
  const text = JSON.stringify({ response: { trades: [trade] } })
  const unused = () => Promise.reject(new Error('not part of this test'))
  const session: Session = {
    steamId: '76561198000000002',
    secrets: { accountName: 'a', sharedSecret: '', identitySecret: '', refreshToken: '' },
    api: async () => ({ kind: 'reply', status: 200, eresult: 1, text }),
    page: unused,
    form: unused,
    accessToken: unused,
  }
  let nowS = 1_800_000_000
  const noted: string[] = []
  const loggedFields: object[] = []
  const offers = createGiftOffers({
    session,
    nowS: () => nowS,
    say: (_line, about) => void loggedFields.push(about),
    needs: { note: (_kind, about) => void noted.push(about), end: () => {} },
    acknowledge: async () => {},
  })
  await offers.checkTrade('77', GIFT)
  nowS += DAY_S
  await offers.checkTrade('77', GIFT)
  expect(noted).toEqual(['Steam trade 77'])
  expect(loggedFields).toEqual([{ steamTrade: '77' }])
})
