/** A failure that concerns one trade of a bot, with a real database. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { BotContext } from '../bots/bot.ts'
import type { Offer } from '../steam/steam.ts'
import type { FakeSession } from '../testing/fake-steam.ts'
import { offerFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from './advance.ts'

let till: Till
let bot: BotContext
let session: FakeSession

beforeEach(async () => {
  till = await startTill()
  ;({ bot, session } = await aBot(till))
})
afterEach(() => till.close())

const setOffer = (offerId: string, change: Partial<Offer>) => {
  const offer = session.offers.get(offerId)
  if (offer === undefined) throw new Error(`Steam has no offer ${offerId}`)
  session.offers.set(offerId, { ...offer, ...change })
  return offer
}

/** Handlers of a gateway that can never load this trade. */
const handlersThatFailAt = (tradeId: bigint) => {
  const load = async (id: bigint) => {
    if (id === tradeId) throw new Error('this row is broken')
    return till.deps.trades.load(id)
  }
  return tradeHandlers({ ...till.deps, trades: { ...till.deps.trades, load } })
}

const failures = () =>
  till.lines
    .map((line): { msg: string; trade?: string } => JSON.parse(line))
    .filter(({ msg }) => msg === 'watch over the offer of a trade failed')

const statesOf = async () => {
  const rows = await till.db.selectFrom('trade').select('state').orderBy('id').execute()
  return rows.map(({ state }) => state)
}

it.each<[string, (offerId: string, broken: bigint) => unknown]>([
  ['whose offer was accepted', (offerId) => session.accept(offerId)],
  [
    'whose offer the list does not show',
    (offerId) => {
      const { listOffers } = session
      session.listOffers = async (...where) => {
        const page = await listOffers(...where)
        const row = { offerId, partnerSteamId: null, message: null }
        const sent = page.kind === 'offers' ? page.sent.filter((offer) => offer.offerId !== offerId) : []
        return page.kind === 'offers' ? { ...page, sent, unreadable: [row] } : page
      }
    },
  ],
  [
    'whose send the last holder of the lease did not finish',
    async (_, broken) => {
      const unfinished = { state: 'sending', steam_offer_id: null, due_at: till.clock.now() } as const
      await till.db.updateTable('trade').set(unfinished).where('id', '=', broken).execute()
    },
  ],
  [
    'that ended before its offer was accepted',
    async (offerId) => {
      setOffer(offerId, { state: 'declined' })
      await tradeHandlers(till.deps).watch(bot)
      setOffer(offerId, { state: 'active' })
      session.accept(offerId)
    },
  ],
])(
  'D-19 a failure at a trade %s is logged, and holds up neither another trade nor the decline of a counteroffer',
  async (_, befall) => {
    const store = await aStore(till)
    const { tradeId: broken, offerId } = await offerFor(till, bot, await aDeposit(till, store))
    const other = await offerFor(till, bot, await aDeposit(till, store))
    await befall(offerId, broken)
    session.accept(other.offerId)
    const counter = { ...setOffer(other.offerId, {}), offerId: '80', state: 'active', tradeId: null } as const
    session.received.set('80', { ...counter, itemsToReceive: [], itemsToGive: counter.itemsToReceive })
    await handlersThatFailAt(broken).watch(bot)
    expect(await statesOf()).toEqual([expect.not.stringMatching('final'), 'final'])
    expect(session.received.get('80')?.state).toBe('declined')
    expect(failures()).toEqual([expect.objectContaining({ trade: String(broken), level: 'error' })])
  },
)
