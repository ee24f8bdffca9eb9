/** Reads of an inventory with the real client libraries, against the sandbox. */
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { startSteam } from '../../steam-sandbox/start.ts'
import { listBars } from '../bots/bar-store.ts'
import { createSandboxAgent } from '../steam/web/agent.ts'
import { createWebSteam } from '../steam/web/web-steam.ts'
import { setPrices, startStockedTill } from '../testing/inventory.ts'

const playersSchema = z.array(z.object({ steamId: z.string(), tradeUrl: z.string() }))
const botsSchema = z.array(z.object({ steamId: z.string(), refreshToken: z.string() }))

test('D-30 if Steam limits one of two bots behind an address, the other bot reads the shopper’s items', async () => {
  const sandbox = await startSteam({ port: 0 })
  onTestFinished(() => sandbox.close())
  const till = await startStockedTill()
  onTestFinished(till.close)
  await till.addReader()
  const readControl = async (path: string): Promise<unknown> =>
    (await fetch(`${sandbox.url}/control/${path}`)).json()
  const bots = botsSchema.parse(await readControl('bots')).slice(0, 2)
  const [player] = playersSchema.parse(await readControl('players'))
  const steam = createWebSteam({ redirect: createSandboxAgent('sandbox', sandbox.url) })
  for (const [n, { refreshToken }] of bots.entries()) {
    const opened = await steam.openSession(refreshToken)
    if (opened.kind !== 'open') throw new Error(JSON.stringify(opened))
    const { session } = opened
    onTestFinished(() => session.close())
    // The till's bots read through these sessions.
    Object.assign(till.readers[n]?.bot.session ?? {}, {
      checkPartner: session.checkPartner,
      readInventory: session.readInventory,
    })
  }
  const token = new URL(player?.tradeUrl ?? '').searchParams.get('token') ?? ''
  const partner = { steamId: player?.steamId ?? '', token }
  await till.db
    .updateTable('deposit')
    .set({ user_steam_id: partner.steamId, user_token: partner.token })
    .execute()
  const owned = await till.readers[1]?.bot.session.readInventory(partner, 'cs', 'en')
  if (owned?.kind !== 'items') throw new Error(JSON.stringify(owned))
  await setPrices(till, Object.fromEntries(owned.items.map((item) => [item.marketHashName, 20_000_000n])))

  sandbox.begin('rate-limited', { steamId: bots[0]?.steamId ?? '' })
  const { items, inventoryError } = await till.ask()
  expect(inventoryError).toBe(false)
  expect(items.length).toBeGreaterThan(0)
  const requests = await till.db
    .selectFrom('inventory_request')
    .select(['bot_id', 'answer'])
    .orderBy('id')
    .execute()
  expect(requests.map((row) => row.bot_id)).toEqual(till.readers.map(({ bot }) => bot.botId))
  expect(requests[0]?.answer).toMatchObject({ kind: 'unavailable', reason: 'rate_limited' })
  // Each read, like each send, begins with a check of the partner. Steam limited that check, so the bot gets no new
  // trades for a while.
  expect((await listBars(till.db)).map(({ botId, reason }) => [botId, reason])).toEqual([
    [till.readers[0]?.bot.botId, 'rate_limited'],
  ])
  // The address is not paused: another read succeeds.
  expect(await till.ask({ game: 'dota' })).toMatchObject({ inventoryError: false })
})
