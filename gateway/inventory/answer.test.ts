import { expect, it } from 'vitest'
import { fakeSession } from '../testing/fake-steam.ts'
import { askSteam } from './answer.ts'

const wanted = {
  partner: { steamId: '76561198000000009', token: 'tok-en_1' },
  game: 'cs',
  language: 'en',
  findRecent: async () => undefined,
  spend: () => {},
} as const

it('D-30 a bot is barred if Steam would hold its items, and a shopper is refused if Steam would hold theirs', async () => {
  const session = fakeSession()
  session.readInventory = async () => ({ kind: 'items', items: [] })
  session.holdDays = { partner: 0, own: 15 }
  expect(await askSteam(session, wanted)).toMatchObject({
    answer: { kind: 'items', items: [] },
    barReason: 'own_hold',
  })
  session.holdDays = { partner: 15, own: 15 }
  expect(await askSteam(session, wanted)).toMatchObject({
    answer: { reason: 'escrow' },
    barReason: 'own_hold',
  })
})
