/** The end of a sale's time limit, here 300 seconds: what the vault no longer does shortly before it. */
import { describe, expect, it } from 'vitest'
import { APP, createOutside, type Outside, runVault } from '../testing/outside.ts'

const dealStates = (out: Outside) => [...out.book().deals.values()].map(({ state }) => state)
const offerStates = (out: Outside) => out.offers.map(({ seen }) => seen.state)

describe('a sale', () => {
  it.each([
    [45, 'active', 1],
    [44, 'ended', 0],
  ])('whose send had no session is, with %i seconds left, %s', async (leftS, state, offers) => {
    const out = createOutside()
    await runVault(out)
    out.buy(1)
    out.advanceS(210)
    const seller = out.seller()
    out.plan(['none', 'no_session'])
    await runVault(out, seller)
    expect(dealStates(out)).toEqual(['intended'])
    out.advanceS(90 - leftS)
    // The market gives no list, so its earlier answer decides.
    out.plan(['lost_before'])
    await runVault(out, seller)
    expect([dealStates(out), out.offers.length]).toEqual([[state], offers])
  })

  it('is not offered if less than 45 seconds are left after a slow answer of the market', async () => {
    const out = createOutside()
    await runVault(out)
    out.buy(1)
    out.advanceS(235)
    const { round } = out.market
    out.market.round = async (appId) => {
      const answer = await round(appId)
      out.advanceS(30)
      return answer
    }
    await runVault(out)
    expect([dealStates(out), out.offers]).toEqual([['ended'], []])
  })

  it.each([
    [15, 'active'],
    [16, 'ended'],
  ])('whose report to the till takes %i of the last 60 seconds is %s', async (tookS, state) => {
    const out = createOutside()
    await runVault(out)
    out.buy(1)
    out.advanceS(240)
    await runVault(out, out.seller({ announce: async () => out.advanceS(tookS) }))
    expect([dealStates(out), out.offers.length]).toEqual([[state], state === 'active' ? 1 : 0])
  })

  it('whose offer waits too long for its turn at Steam is abandoned, and an alarm is raised', async () => {
    const out = createOutside()
    await runVault(out)
    out.buy(1)
    out.advanceS(240)
    const { send } = out.giftOffers
    out.giftOffers.send = (...args) => {
      out.advanceS(16)
      return send(...args)
    }
    const seller = out.seller()
    await runVault(out, seller)
    expect([dealStates(out), out.offers]).toEqual([['intended'], []])
    await runVault(out, seller)
    expect([dealStates(out), out.offers]).toEqual([['ended'], []])
    expect(out.alarms).toMatchObject([{ kind: 'due_refused', problem: 'too_late' }])
  })

  it('is not offered by the next process before the market has reported again how much time is left', async () => {
    const out = createOutside()
    await runVault(out)
    out.buy(1)
    out.plan(['none', 'no_session'])
    await runVault(out)
    // The next process gets no answer from the market.
    const seller = out.seller()
    out.plan(['lost_before'])
    await seller.round(APP)
    await seller.advance()
    expect([dealStates(out), out.offers]).toEqual([['intended'], []])
    await seller.round(APP)
    await seller.advance()
    expect(out.offers.map(({ seen }) => seen.state)).toEqual(['active'])
  })

  it.each([
    ['confirm_then_report', 20, 'active'],
    ['confirm_then_report', 19, 'ended'],
    ['report_then_confirm', 20, 'active'],
    ['report_then_confirm', 19, 'ended'],
  ] as const)(
    'whose offer could not be confirmed is, on a market with the order %s and %i seconds left, %s',
    async (order, leftS, state) => {
      const out = createOutside(order)
      await runVault(out)
      out.buy(1)
      out.advanceS(254)
      const seller = out.seller()
      const { confirm } = out.giftOffers
      out.giftOffers.confirm = async () => false
      await runVault(out, seller)
      expect(offerStates(out)).toEqual(['needs_confirmation'])
      out.giftOffers.confirm = confirm
      out.advanceS(46 - leftS)
      // The market gives no list, so its earlier answer decides.
      out.plan(['lost_before'])
      await runVault(out, seller)
      expect(offerStates(out)).toEqual([state])
    },
  )

  it('whose offer Steam never lets the vault confirm ends, and an alarm is raised once', async () => {
    const out = createOutside()
    await runVault(out)
    out.buy(1)
    const { cancel } = out.giftOffers
    out.giftOffers.confirm = async () => false
    // Steam is slow to cancel, too.
    out.giftOffers.cancel = async () => {}
    const seller = out.seller()
    for (let turn = 0; turn < 24; turn += 1) {
      await runVault(out, seller)
      out.advanceS(15)
    }
    out.giftOffers.cancel = cancel
    await runVault(out, seller)
    await runVault(out, seller)
    expect([dealStates(out), offerStates(out)]).toEqual([['ended'], ['ended']])
    expect(out.alarms).toMatchObject([{ kind: 'due_refused', problem: 'not_confirmed' }])
  })

  it('is not confirmed if less than 20 seconds are left after a slow answer of the market', async () => {
    const out = createOutside()
    await runVault(out)
    out.buy(1)
    out.advanceS(254)
    const { isWanted } = out.market
    out.market.isWanted = async (...args) => {
      out.advanceS(27)
      return isWanted(...args)
    }
    await runVault(out)
    expect(out.offers.map(({ seen }) => seen)).toEqual([{ state: 'ended', how: 'withdrawn' }])
    expect(out.entries.filter(({ entry }) => entry.kind === 'confirmed')).toEqual([])
  })

  it.each([
    [26, 'active'],
    [27, 'needs_confirmation'],
  ])(
    'whose confirmation waits %i of the last 46 seconds for its turn at Steam leaves the offer %s',
    async (waitedS, state) => {
      const out = createOutside()
      await runVault(out)
      out.buy(1)
      out.advanceS(254)
      const { confirm } = out.giftOffers
      out.giftOffers.confirm = (...args) => {
        out.advanceS(waitedS)
        return confirm(...args)
      }
      await runVault(out)
      expect(offerStates(out)).toEqual([state])
    },
  )

  it('is confirmed by a process that does not know how much time is left, if the market still wants the sale', async () => {
    const out = createOutside()
    await runVault(out)
    out.buy(1)
    out.advanceS(254)
    const { confirm } = out.giftOffers
    out.giftOffers.confirm = async () => false
    await runVault(out)
    out.giftOffers.confirm = confirm
    out.advanceS(27)
    out.plan(['lost_before'])
    await runVault(out)
    expect(offerStates(out)).toEqual(['active'])
  })

  it.each([
    [20, 'active'],
    [19, 'ended'],
  ])(
    'whose recipient the market changed after the send is, for a later process with %i seconds left, %s',
    async (leftS, state) => {
      const out = createOutside()
      await runVault(out)
      out.buy(1)
      // The process ends right after the send.
      out.plan(['none', 'kill_after'])
      await runVault(out)
      out.advanceS(300 - leftS)
      out.plan([], 'swap')
      await runVault(out)
      expect(out.alarms).toMatchObject([{ problem: 'changed' }])
      expect(offerStates(out)).toEqual([state])
    },
  )

  it.each([
    ['called it off', 'ended', true],
    ['still wants it', 'active', false],
  ])(
    'whose confirmed offer cannot be reported to a market that %s leaves the offer %s',
    async (_, state, isOff) => {
      const out = createOutside()
      await runVault(out)
      out.buy(1)
      out.market.reportOffer = async () => ({ kind: 'unanswered', because: 'lost' })
      await runVault(out)
      expect(offerStates(out)).toEqual(['active'])
      if (isOff) out.callOff()
      await runVault(out)
      expect(offerStates(out)).toEqual([state])
    },
  )

  it.each([
    [299, 'active'],
    [301, 'ended'],
  ])(
    'that a later process finds after %i seconds, with an unconfirmed offer, leaves the offer %s',
    async (laterS, state) => {
      const out = createOutside()
      await runVault(out)
      out.buy(1)
      // The process ends right after the send.
      out.plan(['none', 'kill_after'])
      await runVault(out)
      expect(offerStates(out)).toEqual(['needs_confirmation'])
      out.advanceS(laterS)
      // The market gives no list. It may want the item again, for another sale.
      out.plan(['lost_before'])
      await runVault(out)
      expect(offerStates(out)).toEqual([state])
    },
  )
})
