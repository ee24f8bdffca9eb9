import { expect, it, onTestFinished } from 'vitest'
import { offerFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, startTill } from '../testing/till.ts'
import { tradeHandlers } from './advance.ts'

it('the watch reads an offer whose row cannot be read, even if the list ends only in a later turn', async () => {
  const till = await startTill()
  onTestFinished(() => till.close())
  const { bot, session } = await aBot(till)
  const store = await aStore(till)
  for (let made = 0; made < 7; made += 1) await offerFor(till, bot, await aDeposit(till, store))
  session.accept('1')
  const row = { offerId: '1', partnerSteamId: null, message: null }
  const pages = [{ unreadable: [row], next: '1' }, { next: '2' }, { next: '3' }, { next: null }]
  session.listOffers = async (_since, cursor) => {
    const { unreadable = [], next } = pages[Number(cursor)] ?? { next: null }
    return { kind: 'offers', sent: [], received: [], unreadable, next }
  }
  const { watch } = tradeHandlers(till.deps)
  const stateOfFirst = async () =>
    (await till.db.selectFrom('trade').select('state').orderBy('id').executeTakeFirst())?.state
  // Of the offers that this turn did not list, it reads five one by one, those with an unreadable row last.
  await watch(bot)
  expect(await stateOfFirst()).toBe('active')
  await watch(bot)
  expect(await stateOfFirst()).toBe('final')
})
