/**
 * Guests: copies of shoppers, each for one test or demo. A magic player is a shopper with a fixed behaviour, such as
 * accepting every offer.
 */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type RunningSteam, startSteam } from './start.ts'
import { obstacleToTrading } from './world/people.ts'
import { findAccount, withAccount } from './world/world.ts'

let steam: RunningSteam

beforeEach(async () => {
  steam = await startSteam({ port: 0, seed: 'guests' })
})
afterEach(() => steam.close())

it.each([
  ['the start page', '/', 'nova_hound'],
  ['the page that asks who you are', '/my/edit/settings', 'nova_hound'],
  ['the list of ordinary shoppers', '/control/players', 'nova_hound'],
  ['the list of magic players', '/control/magic', 'magic_accepts'],
])('%s shows a shopper, but no guest that copies this shopper', async (_, path, like) => {
  const { steamId } = steam.invite(like)
  const shown = await (await fetch(`${steam.url}${path}`)).text()
  expect(shown).toContain(like)
  expect(shown).not.toContain(steamId)
})

it('a guest has a profile page', async () => {
  const { steamId } = steam.invite('nova_hound')
  const page = await fetch(`${steam.url}/profiles/${steamId}/`)
  expect(await page.text()).toContain('nova_hound_1')
})

it('a guest can trade, even if the shopper that it copies may not trade', () => {
  const restricted = steam.as('nova_hound').steamId
  const obstacleOf = (steamId: string) => {
    const account = findAccount(steam.world(), steamId)
    return account && obstacleToTrading(steam.world(), account, 0)
  }
  steam.change((world) => ({
    world: withAccount(world, restricted, (account) => ({ ...account, restrictedUntilS: 1 })),
    answer: undefined,
  }))
  expect(obstacleOf(restricted)).toBe('cannot_trade')
  expect(obstacleOf(steam.invite('nova_hound').steamId)).toBeUndefined()
})
