import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { OffersAnswer } from '../steam/steam.ts'
import { offerFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { tradeHandlers } from './advance.ts'

/** More than the watch reads one by one in a turn. */
const TRADES = 7

let till: Till
let bot: Awaited<ReturnType<typeof aBot>>['bot']
let session: Awaited<ReturnType<typeof aBot>>['session']
let watch: () => Promise<unknown>

beforeEach(async () => {
  till = await startTill()
  ;({ bot, session } = await aBot(till))
  const store = await aStore(till)
  for (let made = 0; made < TRADES; made += 1) await offerFor(till, bot, await aDeposit(till, store))
  const handlers = tradeHandlers(till.deps)
  watch = () => handlers.watch(bot)
})
afterEach(() => till.close())

type Page = Partial<Extract<OffersAnswer, { kind: 'offers' }>>

/** Lets Steam answer with these pages, of which the watch reads three a turn. */
function listPages(pages: readonly Page[]): void {
  session.listOffers = async (_since, cursor) => {
    const place = Number(cursor)
    const next = place + 1 < pages.length ? String(place + 1) : null
    return { kind: 'offers', sent: [], received: [], unreadable: [], ...pages[place], next }
  }
}

const unreadable = (offerId: string) => ({ offerId, partnerSteamId: null, message: null })

const finalTrades = async () =>
  (
    await till.db
      .selectFrom('trade')
      .select('steam_offer_id')
      .where('state', '=', 'final')
      .orderBy('id')
      .execute()
  ).map((row) => row.steam_offer_id)

describe('the watch reads an offer individually if its row in the list is unreadable', () => {
  it.each([
    ['the list has not ended', [{}, {}, {}], 0],
    ['they are too old for the list', [], 16],
  ])('even if more offers need such a read than fit into a turn: %s', async (_, morePages, minutes) => {
    session.accept('7')
    listPages([{ unreadable: [unreadable('7')] }, ...morePages])
    till.clock.advance(minutes * 60_000)
    await watch()
    expect(await finalTrades()).toEqual(['7'])
  })

  it('even if the list ends in a later turn', async () => {
    session.accept('6')
    session.accept('7')
    listPages([{ unreadable: [unreadable('6'), unreadable('7')] }, {}, {}, {}])
    // A turn reads at most five offers one by one, and keeps one of these places for an unreadable row.
    await watch()
    expect(await finalTrades()).toEqual(['6'])
    await watch()
    expect(await finalTrades()).toEqual(['6', '7'])
  })

  it.each([60_000, -172_800_000])('once a minute, and if the clock is set back: %i ms', async (ms) => {
    listPages([{ unreadable: [unreadable('7')] }])
    const readsOf7 = () => session.calls.filter((call) => call === 'read 7').length
    await watch()
    await watch()
    expect(readsOf7()).toBe(1)
    till.clock.advance(ms)
    await watch()
    expect(readsOf7()).toBe(2)
  })

  it('but not a second time after a later page has shown it', async () => {
    const offer = session.offers.get('7')
    if (offer === undefined) throw new Error('Steam has no offer')
    listPages([{ unreadable: [unreadable('7')] }, {}, {}, { sent: [offer] }, {}, {}, {}])
    const readsOf7 = () => session.calls.filter((call) => call === 'read 7').length
    for (let turns = 1; turns <= 3; turns += 1) {
      await watch()
      till.clock.advance(60_000)
      expect(readsOf7()).toBe(1)
    }
  })
})
