import { afterEach, beforeEach, expect, it } from 'vitest'
import { heldItems } from '../bots/held-item-store.ts'
import { receivedIdOf } from '../testing/fake-steam.ts'
import { payFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { steamTrade } from '../testing/trades.ts'
import { tradeHandlers } from '../trades/advance.ts'

let till: Till

beforeEach(async () => {
  till = await startTill()
})
afterEach(() => till.close())

it('an item that Steam did not move stays in custody, even if another item of the same trade left for good', async () => {
  const { bot, session } = await aBot(till)
  const deposit = await aDeposit(till, await aStore(till))
  await payFor(till, { bot, session }, deposit)
  const [gone = '', kept = ''] = deposit.body.items.map((assetId) => receivedIdOf(assetId))
  const given = (assetId: string, newAssetId: string | null) => {
    return { appId: 570, contextId: '2', assetId, newAssetId, rolledBackAssetId: null }
  }
  const trade = steamTrade({
    tradeId: '9500',
    partnerSteamId: '76561198000009002',
    state: 'abandoned',
    received: [],
    given: [given(gone, '71'), given(kept, null)],
    begunAt: till.clock.now(),
  })
  session.trades.set('9500', { kind: 'trade', trade })
  for (const hours of [0, 1]) {
    till.clock.advance(hours * 3_600_000)
    await tradeHandlers(till.deps).history(bot)
  }
  expect((await heldItems(till.db, {})).map(({ assetId }) => assetId)).toEqual([kept])
})
