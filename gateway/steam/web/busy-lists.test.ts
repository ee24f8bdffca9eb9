import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type RunningSteam, startSteam } from '../../../steam-sandbox/start.ts'
import type { SteamSession } from '../steam.ts'
import { createSandboxAgent } from './agent.ts'
import { createWebSteam } from './web-steam.ts'

let sandbox: RunningSteam
let session: SteamSession

beforeEach(async () => {
  sandbox = await startSteam({ port: 0 })
  const redirect = createSandboxAgent('sandbox', sandbox.url)
  const steam = createWebSteam({ redirect, imageBase: sandbox.url, communityBase: sandbox.url })
  const opened = await steam.openSession(sandbox.as('Tradetill Bot #1').refreshToken())
  if (opened.kind !== 'open') throw new Error(JSON.stringify(opened))
  session = opened.session
})

afterEach(async () => {
  session.close()
  await sandbox.close()
})

async function send(message: string): Promise<string> {
  const { steamId, tradeUrl, tradable } = sandbox.as('nova_hound')
  const token = new URL(tradeUrl()).searchParams.get('token') ?? ''
  const assets = tradable(730)
    .slice(0, 2)
    .map(({ assetId }) => ({ appId: 730, contextId: '2', assetId }))
  await session.acknowledgeProtection()
  const answer = await session.sendOffer({ steamId, token }, assets, message)
  if (answer.kind !== 'sent') throw new Error(JSON.stringify(answer))
  return answer.offerId
}

describe('the lists of a busy bot', () => {
  it('come in pages of a hundred, newest first, and an unreadable offer hides no other offer', async () => {
    sandbox.begin('busy-for-nine-days', { steamId: session.steamId })
    sandbox.begin('odd-offer-in-lists')
    const offerId = await send('K7M2QZ')
    const since = new Date(Date.now() - 14 * 86_400_000)
    const first = await session.listOffers(since, null)
    if (first.kind !== 'offers') throw new Error(JSON.stringify(first))
    const second = await session.listOffers(since, first.next)
    if (second.kind !== 'offers') throw new Error(JSON.stringify(second))
    expect([first.sent.length, second.sent.length]).toEqual([100, 100])
    expect(first.sent[0]?.offerId).toBe(offerId)
    const ids = [...first.sent, ...second.sent].map((each) => each.offerId)
    expect(new Set(ids).size).toBe(200)
    const odd = { offerId: '7', partnerSteamId: expect.any(String), message: 'by hand' }
    expect(second.unreadable).toEqual([odd])
    const newest = await session.listSteamTrades(null)
    const older = newest.kind === 'trades' ? await session.listSteamTrades(newest.next) : newest
    if (newest.kind !== 'trades' || older.kind !== 'trades') throw new Error(JSON.stringify(newest))
    expect([newest.trades.length, older.trades.length]).toEqual([100, 100])
    // Each of the hundred trades began 86 seconds after the one before.
    expect((newest.next?.begunAt.getTime() ?? 0) - (older.next?.begunAt.getTime() ?? 0)).toBe(8_600_000)
  })
})
