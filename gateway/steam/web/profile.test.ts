import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { PARTNER, type ScriptedSteam, scriptedSteam } from '../../testing/steam-server.ts'

const { steamId } = PARTNER
const PROFILE = `steamcommunity.com/profiles/${steamId}/`
const MINIPROFILE = 'steamcommunity.com/miniprofile/4001/json'

let steam: ScriptedSteam

beforeEach(async () => {
  steam = await scriptedSteam()
})
afterEach(() => steam.close())

const page = (name: string) => ({
  body: `<?xml version="1.0"?><profile><steamID64>${steamId}</steamID64><steamID><![CDATA[${name}]]></steamID></profile>`,
})

describe('a profile whose owner chose its address', () => {
  const chosenUrl = 'https://steamcommunity.com/id/nova-hound/?xml=1'
  const chosenPath = 'steamcommunity.com/id/nova-hound/'
  const leadTo = (location: string) =>
    steam.routes.set(PROFILE, () => ({ status: 302, headers: { location }, body: '' }))
  const joined = '<memberSince>March 9, 2011</memberSince></profile>'

  it('is read at that address, to which Steam leads', async () => {
    leadTo(chosenUrl)
    steam.routes.set(chosenPath, () => ({ body: page('nova').body.replace('</profile>', joined) }))
    expect(await steam.createPort().readProfile(steamId)).toMatchObject({
      profile: { steamId, name: 'nova', memberSince: '2011-03-09' },
    })
  })

  it('is not followed anywhere else, or further', async () => {
    for (const location of [
      'https://evil.example/id/nova-hound/?xml=1',
      'https://steamcommunity.com.evil.example/id/nova-hound/',
      'http://steamcommunity.com/id/nova-hound/',
      'https://steamcommunity.com/login/home/',
    ]) {
      leadTo(location)
      expect(await steam.createPort().readProfile(steamId)).toMatchObject({ kind: 'unavailable' })
    }
    leadTo(chosenUrl)
    steam.routes.set(chosenPath, () => ({ status: 302, headers: { location: chosenUrl }, body: '' }))
    expect(await steam.createPort().readProfile(steamId)).toMatchObject({ kind: 'unavailable' })
    expect(steam.times('/id/nova-hound/')).toBe(1)
  })
})

describe('the name of an account', () => {
  it.each([
    ['marks of direction', '\u202e\u200e'],
    ['spaces', ' \u00a0\u2003\u2028'],
    ['letters without width', '\u200b\u2060\u3164'],
    ['empty Braille cells', '\u2800'],
    ['nothing', ''],
  ])('is its number if its owner chose one of %s', async (_what, name) => {
    const named = { kind: 'profile', profile: { steamId, name: steamId } }
    steam.routes.set(PROFILE, () => page(name))
    steam.routes.set(MINIPROFILE, () => ({ body: { level: 12, persona_name: name } }))
    expect(await steam.createPort().readProfile(steamId)).toMatchObject(named)
    steam.routes.set(MINIPROFILE, () => ({ status: 503, body: '<html>' }))
    expect(await steam.createPort().readProfile(steamId)).toMatchObject(named)
  })

  it('is its number if only the miniprofile is readable, and has an invisible name', async () => {
    steam.routes.set(PROFILE, () => ({ status: 503, body: '<html>' }))
    steam.routes.set(MINIPROFILE, () => ({ body: { level: 12, persona_name: '\u200e' } }))
    expect(await steam.createPort().readProfile(steamId)).toMatchObject({ profile: { name: steamId } })
    // Steam also sends a miniprofile for an account that does not exist.
    steam.routes.set(MINIPROFILE, () => ({ body: { level: 0, persona_name: '' } }))
    expect(await steam.createPort().readProfile(steamId)).toMatchObject({ kind: 'unavailable' })
  })
})
