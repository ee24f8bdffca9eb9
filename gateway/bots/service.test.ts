import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { systemClock } from '../kit/clock.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import { countingSteam, BOT_TOKEN as TOKEN } from '../testing/counting-steam.ts'
import { proveBot } from './service.ts'

it('an enrolment asks again if Steam’s list of offers has no content, and says so if that continues', async () => {
  const steam = countingSteam()
  const box = createSecretBox(randomBytes(32))
  const prove = () => proveBot({ steam, box, clock: systemClock, refreshToken: TOKEN })
  steam.emptyLists = 2
  expect(await prove()).toMatchObject({ kind: 'proved', areOffersListed: true })
  expect(steam.emptyLists).toBe(0)
  steam.emptyLists = 9
  expect(await prove()).toMatchObject({ kind: 'proved', areOffersListed: false })
  expect(steam.emptyLists).toBe(6)
})
