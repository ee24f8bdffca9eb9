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

describe('the name of an account', () => {
  it.each([
    ['marks of direction', '\u202e\u200e'],
    ['spaces', ' \u00a0\u2003\u2028'],
    ['letters without width', '\u200b\u2060\u3164'],
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
