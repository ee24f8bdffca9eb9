/**
 * D-30: shoppers alone cannot exclude a bot from new trades, even if for hours they cause every refusal that they
 * can, at every bot.
 */
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import { listBars } from '../bots/bar-store.ts'
import type { BotContext } from '../bots/bot.ts'
import { DEFAULT_FLEET_LIMITS } from '../bots/fleet.ts'
import { hasBotForTrade } from '../bots/service.ts'
import { sendOutcome } from '../steam/outcomes.ts'
import { type FakeSession, fakeSession } from '../testing/fake-steam.ts'
import { aBot, aDeposit, aStore, jump, startTill, type Till } from '../testing/till.ts'
import { attempt, at as momentAt } from '../testing/trades.ts'
import { tradeHandlers } from './advance.ts'
import { isOfBotOrPair, judgeRefusal } from './refusal.ts'
import { requestTrade } from './request.ts'

/** The longest name that Steam allows. */
const MOST_LETTERS = 32

/** Refusals about the bot. A shopper's name can be any 32 letters of such a text. */
const BOT_SIDE = [
  'You have logged in from a new device. In order to protect your items, you will be unable to trade for 7 days.',
  'You must have had Steam Guard enabled for at least 15 days before you can participate in a trade.',
  'You have sent too many trade offers. Please cancel some before sending more.',
  'This trade would exceed the maximum number of items allowed in your Counter-Strike 2 inventory.',
  'There was an error sending your trade offer.  Please try again later. (24)',
]

/** The beginning of the first text. */
const NAME_LIKE_BOT_SIDE = 'You have logged in from a new de'

const NAMES = [
  ...BOT_SIDE.flatMap((text) =>
    Array.from({ length: text.length - MOST_LETTERS + 1 }, (_, start) =>
      text.slice(start, start + MOST_LETTERS),
    ),
  ),
  '(24)',
  'you. Please try again later. (24)',
  '<b>You</b> have logged in<br>from',
  // Reads as "new device" from right to left.
  '\u202eecived wen',
]

const numbered = (result: number): string =>
  `There was an error sending your trade offer.  Please try again later. (${result})`
const errorWith = (text: string): string =>
  `There was an error sending your trade offer.  Please try again later. ${text}`

/** Refusals that are about the shopper, with the shopper's name where Steam puts it. */
const REFUSALS: Record<string, (name: string) => string> = {
  'has a trade ban': (name) => `You cannot trade with ${name} because they have a trade ban.`,
  'has a cooldown': (name) =>
    `${name} is not available to trade. More information will be shown to ${name} if they invite you to trade.`,
  'has a limited account': () =>
    'This person has a limited account. They cannot trade until they have bought something on Steam.',
  'hides the inventory': (name) =>
    `${name}'s inventory privacy is set to "Private", so they cannot receive trade offers.`,
  'has another trade link': (name) =>
    `This Trade URL is no longer valid for sending a trade offer to ${name}.`,
  'has a wrong token': () => 'Trade Offers can only be sent to friends.',
  'is refused with result 15': () => numbered(15),
  'gave the items away': () => numbered(26),
  'lets five offers wait': (name) =>
    `You have sent too many trade offers, or have too many outstanding trade offers with ${name}. Please cancel some before sending more. (25)`,
  'lets five offers wait, reported as result 50': () => numbered(50),
  'has changed their name': (name) => `You cannot trade with ${name} (34)`,
}

const answerTo = (strError: string) =>
  sendOutcome({ kind: 'reply', status: 500, eresult: null, body: { strError } })

describe.each(Object.entries(REFUSALS))('a shopper who %s', (_, textOf) => {
  test('bars no bot, whatever the shopper’s name is', () => {
    const barring = NAMES.flatMap((name) => [textOf(name), errorWith(textOf(name))]).filter((text) => {
      const answer = answerTo(text)
      // An answer that matches no pattern leads to a search on Steam, and blames nobody.
      if (answer.kind !== 'refused') return false
      const verdicts = [null, 1n].map((doubted) =>
        judgeRefusal(answer.reason, { ...attempt, doubted }, momentAt(1)),
      )
      return verdicts.some(({ bars }) => bars !== null)
    })
    expect(barring).toEqual([])
    expect(answerTo(textOf('nova_hound')).kind).toBe('refused')
  })
})

describe('hostile shoppers', () => {
  const BOTS = 3
  const ROUNDS = 2
  /** The time between two rounds. */
  const BREAK_S = 4 * 3_600

  let till: Till
  let store: { id: bigint }
  let bots: { bot: BotContext; session: FakeSession }[]

  beforeEach(async () => {
    till = await startTill()
    store = await aStore(till, { riskLimitUsdCents: 100_000n })
    bots = []
    for (let n = 1; n <= BOTS; n += 1) bots.push(await aBot(till, sessionOf(n)))
  })
  afterEach(() => till.close())

  /** Gives each fake its own offer numbers. Every fake counts from 1, but Steam never reuses a number. */
  function sessionOf(n: number): FakeSession {
    const session = fakeSession(`7656119800000010${n}`)
    const { sendOffer } = session
    session.sendOffer = async (...args) => {
      const answer = await sendOffer(...args)
      return answer.kind === 'sent' ? { ...answer, offerId: `${n}000${answer.offerId}` } : answer
    }
    return session
  }

  /** The bots share Steam's next answers, because the till chooses which bot tries first. */
  const steamSays = (sends: FakeSession['sends']) => {
    for (const { session } of bots) session.sends = sends
  }

  const unfinished = () =>
    till.db
      .selectFrom('trade')
      .select(['id', 'bot_id'])
      .where('state', 'in', ['intended', 'sending', 'unknown'])
      .orderBy('id')
      .execute()

  async function ask() {
    const { body } = await aDeposit(till, store, { game: 'cs' })
    let isAnswered = false
    const answer = requestTrade(till.deps, body).finally(() => {
      isAnswered = true
    })
    const workUntilAnswered = async () => {
      for (const { id, bot_id: botId } of await unfinished()) {
        const owner = bots.find(({ bot }) => bot.botId === botId)
        if (owner) await tradeHandlers(till.deps).trade(owner.bot, id)
      }
      return isAnswered
    }
    await expect.poll(workUntilAnswered, { interval: 5 }).toBe(true)
    await till.db
      .updateTable('trade')
      .set({ state: 'timed_out', reason: 'deadline', ended_at: till.clock.now() })
      .where('state', '=', 'active')
      .execute()
    return answer
  }

  /**
   * Checks that no bot has a bar other than `doubted`, and that each can still be chosen after all others were tried.
   */
  async function expectAllAvailable(): Promise<void> {
    const barred = (await listBars(till.db)).filter(({ reason }) => reason !== 'doubted')
    expect(barred).toEqual([])
    for (const { bot } of bots) {
      const tried = bots.map((other) => other.bot.botId).filter((botId) => botId !== bot.botId)
      const wanted = { partnerSteamId: '76561198000000777', game: 'cs' as const, items: 1, tried }
      expect(await hasBotForTrade(till.db, wanted, DEFAULT_FLEET_LIMITS)).toBe(true)
    }
  }

  it('D-30 shoppers exclude no bot in hours of attempts, and an honest shopper is then served immediately', async () => {
    const reasons = Object.values(REFUSALS).map((textOf) => {
      const answer = answerTo(textOf(NAME_LIKE_BOT_SIDE))
      if (answer.kind !== 'refused') throw new Error(`not understood: ${textOf('nova_hound')}`)
      return answer.reason
    })
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const reason of new Set(reasons)) {
        steamSays(bots.map(() => ({ answer: 'refused', reason })))
        // After a refusal that may be about the bot, other bots try too, so any answer is possible.
        expect(await ask()).toMatchObject({ kind: isOfBotOrPair(reason) ? expect.any(String) : 'refused' })
        await expectAllAvailable()
      }
      for (const { session } of bots) session.holdDays = { partner: 15, own: 0 }
      expect(await ask()).toEqual({ kind: 'refused', code: 'trade_hold' })
      for (const { session } of bots) session.holdDays = { partner: 0, own: 0 }
      await expectAllAvailable()
      await jump(till, BREAK_S)
    }
    expect(await listBars(till.db)).toEqual([])
    steamSays([])
    expect(await ask()).toEqual({ kind: 'active' })
  })

  it('D-30 shoppers can make bots the last choice, but never exclude them', async () => {
    // Three doubts in an hour bar a bot as doubted, so these requests are enough for every bot.
    for (let n = 0; n <= 3 * BOTS; n += 1) {
      steamSays([{ answer: 'refused', reason: 'access_denied' }])
      expect(await ask()).toEqual({ kind: 'active' })
      await expectAllAvailable()
    }
    const doubted = await listBars(till.db)
    expect(new Set(doubted.map(({ reason }) => reason))).toEqual(new Set(['doubted']))
    steamSays([])
    expect(await ask()).toEqual({ kind: 'active' })
  })
})
