import { expect, it, onTestFinished } from 'vitest'
import { startSteam } from '../../../steam-sandbox/start.ts'
import { createSandboxAgent } from './agent.ts'
import { createWebSteam } from './web-steam.ts'

const LIMITED = { kind: 'unavailable', reason: 'rate_limited' }
const NOT_SENT = { kind: 'unavailable', reason: 'not_our_turn' }
const SECOND_MS = 1_000

it('an address that Steam’s network blocks asks less and less often, instead of as often as before', async () => {
  const sandbox = await startSteam({ port: 0 })
  onTestFinished(() => sandbox.close())
  let nowMs = 0
  const time = {
    now: () => nowMs,
    pause: async (ms: number) => {
      nowMs += ms
    },
  }
  const redirect = createSandboxAgent('sandbox', sandbox.url)
  const steam = createWebSteam({ redirect, time, random: () => 0 })
  const opened = await steam.openSession(sandbox.as('Tradetill Bot #1').refreshToken())
  if (opened.kind !== 'open') throw new Error(JSON.stringify(opened))
  const { session } = opened
  onTestFinished(() => session.close())
  const { steamId, tradeUrl } = sandbox.as('nova_hound')
  const token = new URL(tradeUrl()).searchParams.get('token') ?? ''
  const check = () => session.checkPartner({ steamId, token })

  sandbox.begin('rate-limited', { times: 1 })
  expect(await check()).toMatchObject(LIMITED)
  sandbox.begin('address-blocked', {})
  nowMs += 31 * SECOND_MS
  expect(await check()).toMatchObject(LIMITED)
  nowMs += 31 * SECOND_MS
  expect(await check()).toMatchObject(NOT_SENT)
  nowMs += 31 * SECOND_MS
  expect(await check()).toMatchObject(LIMITED)
  // Public pages need no account, so a single refusal counts for the address.
  expect(await steam.readProfile(steamId)).toMatchObject(LIMITED)
  expect(await steam.readProfile(steamId)).toMatchObject(NOT_SENT)
  // A blocked send may have made an offer, so it counts as unknown, not as refused.
  const item = { appId: 730, contextId: '2', assetId: '1' }
  expect(await session.sendOffer({ steamId, token }, [item], 'A')).toMatchObject({ kind: 'unknown' })
  expect(await session.sendOffer({ steamId, token }, [item], 'B')).toEqual({
    kind: 'refused',
    reason: 'not_our_turn',
  })
  sandbox.end('address-blocked')
  nowMs += 130 * SECOND_MS
  expect(await check()).toMatchObject({ kind: 'ok' })
})
