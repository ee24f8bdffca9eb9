/** The settings pages of a person, with the settings that the deposit page asks a shopper to change on Steam. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type RunningSteam, startSteam } from './start.ts'
import { isTokenOf } from './world/offers.ts'
import { traitsOf } from './world/people.ts'
import { holdDaysOf } from './world/trades.ts'

let steam: RunningSteam

beforeEach(async () => {
  steam = await startSteam({ port: 0, seed: 'settings' })
})

afterEach(() => steam.close())

const show = async (path: string) => (await fetch(`${steam.url}${path}`)).text()

function press(path: string, value: string): Promise<Response> {
  const body = new URLSearchParams([['set', value]])
  return fetch(`${steam.url}${path}`, {
    method: 'POST',
    headers: { origin: steam.url },
    body,
    redirect: 'manual',
  })
}

const path = (at: string, name: string) => `/profiles/${steam.as(name).steamId}/${at}`
const set = (at: string, name: string, value: string) => press(path(at, name), value)
const accountOf = (name: string) => {
  const account = steam.world().accounts.find((other) => other.name === name)
  if (!account) throw new Error(`There is no ${name}.`)
  return account
}

it.each(['tradeoffers', 'tradeoffers/privacy', 'edit/settings'])(
  'the page /my/%s asks who you are, because nobody is logged in',
  async (at) => {
    expect(await show(`/my/${at}`)).toContain(`<a href="${path(at, 'magic_hidden')}">magic_hidden</a>`)
    expect((await fetch(`${steam.url}${path(at, 'magic_hidden')}`)).status).toBe(200)
  },
)

it('the page that asks who you are describes every shopper in the words of the control API', async () => {
  const page = await show('/my/edit/settings')
  const rowOf = (name: string) =>
    new RegExp(`>${name}</a><p>(.*?)</p>`).exec(page)?.[1]?.replace(/<\/?code>/g, '`')
  const listOf = async (name: string): Promise<{ name: string; line: string }[]> =>
    JSON.parse(await show(`/control/${name}`)) as { name: string; line: string }[]
  const shoppers = [...(await listOf('players')), ...(await listOf('magic'))]
  expect(shoppers).toHaveLength(steam.world().accounts.filter(({ kind }) => kind === 'shopper').length)
  for (const { name, line } of shoppers) expect([name, rowOf(name)]).toEqual([name, line])
  expect(rowOf('magic_hidden')).toBe('The inventory is private.')
  expect(rowOf('nova_hound')).toContain('Counter-Strike 2: 72')
  await set('edit/settings', 'magic_hidden', 'public')
  expect(await show('/my/edit/settings')).toContain('The inventory is private. Settings were changed here.')
})

it.each(['unknown', 'toString'])('a form with the unknown setting %s changes nothing', async (value) => {
  const accountBefore = accountOf('magic_hidden')
  expect((await set('edit/settings', 'magic_hidden', value)).status).toBe(404)
  expect(accountOf('magic_hidden')).toEqual(accountBefore)
})

it('a hidden inventory can be made public and hidden again', async () => {
  const inventorySetting = () => traitsOf(steam.world(), accountOf('magic_hidden')).inventory
  expect(inventorySetting()).toBe('hidden')
  await set('edit/settings', 'magic_hidden', 'public')
  expect(inventorySetting()).toBe(undefined)
  expect(await show(path('edit/settings', 'magic_hidden'))).toContain('Inventory: Public')
  await set('edit/settings', 'magic_hidden', 'private')
  expect(inventorySetting()).toBe('hidden')
})

it('the valid trade link is shown, and stops working when it is replaced', async () => {
  const works = (token: string) => isTokenOf(steam.world(), accountOf('magic_new_token'), token)
  const { token } = accountOf('magic_new_token')
  expect(works(token)).toBe(false)
  const [, shown = ''] =
    /token=([\w-]+)/.exec(await show(path('tradeoffers/privacy', 'magic_new_token'))) ?? []
  expect(works(shown)).toBe(true)
  await set('tradeoffers/privacy', 'magic_new_token', 'link')
  expect([works(shown), works(accountOf('magic_new_token').token)]).toEqual([false, true])
  expect(await show(path('tradeoffers/privacy', 'magic_new_token'))).toContain(
    accountOf('magic_new_token').token,
  )
})

it('the mobile authenticator can be turned on, and Steam then holds no trade', async () => {
  expect(await show('/twofactor/manage')).toContain(path('twofactor/manage', 'magic_hold'))
  expect(holdDaysOf(steam.world(), accountOf('magic_hold').steamId)).toBe(15)
  await set('twofactor/manage', 'magic_hold', 'authenticator')
  expect(holdDaysOf(steam.world(), accountOf('magic_hold').steamId)).toBe(0)
})

it('an unknown setting and a form without an Origin are refused', async () => {
  expect((await press(path('edit/settings', 'magic_hidden'), 'nonsense')).status).toBe(404)
  const form = { method: 'POST', body: new URLSearchParams([['set', 'public']]) }
  expect((await fetch(`${steam.url}${path('edit/settings', 'magic_hidden')}`, form)).status).toBe(403)
})
