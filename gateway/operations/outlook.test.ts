/** The next step of a deposit and the acts that an operator can choose, as sentences. */
import { expect, it } from 'vitest'
import { allCommands } from '../cli/app.ts'
import type { TradeStateColumn } from '../db/trade-tables.ts'
import { RELEASE_AFTER_MS } from '../trades/by-hand.ts'
import { type OutlookFacts, type OutlookTrade, outlookOf, RELEASE_WAIT_MS } from './outlook.ts'

const at = (seconds: number): Date => new Date(Date.UTC(2026, 0, 1) + seconds * 1000)
const NOW = at(100)
const DAY_S = 86_400

const trade: OutlookTrade = {
  tradeId: 7n,
  state: 'active',
  heldMinor: 0n,
  botId: 2n,
  bot: 'Collector',
  botState: 'active',
  hasGateway: true,
  offerId: '601',
  partnerSteamId: '76561198000000077',
  deadline: at(300),
  acceptedAt: null,
  isCancelling: false,
  settlesAt: null,
  lookAt: null,
  steamHoldUntil: null,
  dueAt: at(105),
}
const created: OutlookFacts = {
  depositId: 1001n,
  status: 'created',
  creditMode: null,
  expiresAt: at(3_600),
  isTimeStopped: false,
  isOfferTimeStopped: false,
  trades: [],
  due: [],
  givenUp: [],
}
const withTrade = (change: Partial<OutlookTrade>, facts: Partial<OutlookFacts> = {}) =>
  outlookOf({ ...created, status: 'pending', trades: [{ ...trade, ...change }], ...facts }, NOW)

const stepsOf = ({ next }: ReturnType<typeof outlookOf>) =>
  next.map((each) => [each.at === null ? null : (each.at.getTime() - at(0).getTime()) / 1000, each.what])

it('a deposit that waits for its shopper will expire, and an operator can have all its credit held', () => {
  const outlook = outlookOf(created, NOW)
  expect(stepsOf(outlook)).toEqual([[3_600, 'the deposit expires, unless its shopper trades']])
  expect(outlook.can.map(({ command }) => command)).toEqual(["deposit hold 1001 --reason 'TEXT'"])
  expect(outlookOf({ ...created, creditMode: 'on_release' }, NOW).can).toEqual([])
})

it('the expiry of a deposit is unknown while an outage or maintenance stops its time', () => {
  expect(stepsOf(outlookOf({ ...created, isTimeStopped: true }, NOW))).toEqual([
    [null, 'the deposit waits for its shopper; the countdown is paused'],
  ])
})

it('the end of an open offer is unknown while an outage stops its time, but not during maintenance', () => {
  expect(stepsOf(withTrade({}, { isTimeStopped: true, isOfferTimeStopped: true }))).toEqual([
    [null, 'trade 7: the offer is open; the countdown is paused'],
  ])
  expect(stepsOf(withTrade({}, { isTimeStopped: true }))).toEqual([
    [300, 'trade 7: the offer is taken off Steam, unless it is accepted'],
  ])
})

it('a deposit does not expire while its offer is under way', () => {
  const facts = { ...created, trades: [{ ...trade, state: 'sending' as const }] }
  expect(stepsOf(outlookOf(facts, NOW))).toEqual([
    [105, 'trade 7: Steam is asked whether the offer was made'],
  ])
})

it.each<[string, Partial<OutlookTrade>, [number | null, string]]>([
  ['open', {}, [300, 'the offer is taken off Steam, unless it is accepted']],
  ['accepted', { acceptedAt: at(50) }, [105, 'Steam is asked for proof that the items arrived']],
  ['being cancelled', { isCancelling: true }, [105, 'the offer is taken off Steam']],
])('the next step of an offer that is %s is given with its time', (_, change, [time, what]) => {
  expect(stepsOf(withTrade(change))).toEqual([[time, `trade 7: ${what}`]])
})

it.each<[TradeStateColumn, Partial<OutlookTrade>, [number, string] | undefined]>([
  ['intended', {}, [105, 'the offer is sent']],
  ['unknown', {}, [105, 'Steam is asked whether the offer was made']],
  ['held', { settlesAt: at(DAY_S) }, [DAY_S, 'Steam’s protection ends, and the credit is final']],
  ['final', { lookAt: at(900) }, [900, 'Steam is asked whether the items were taken back']],
  ['final', {}, undefined],
  ['reversed', {}, undefined],
  ['declined', {}, [105, 'Steam is asked whether the items arrived after all']],
  ['declined', { dueAt: null }, undefined],
  ['invalid', { steamHoldUntil: at(DAY_S) }, [DAY_S, 'Steam’s hold of the items ends']],
])(
  'the next step of a trade that is %s, with %j, is given with its time, if there is one',
  (state, change, next) => {
    expect(stepsOf(withTrade({ state, ...change }, { status: 'succeeded' }))).toEqual(
      next === undefined ? [] : [[next[0], `trade 7: ${next[1]}`]],
    )
  },
)

it('the next step of a trade with held credit is the release of that credit', () => {
  const held = { state: 'held', heldMinor: 500n, settlesAt: at(DAY_S) } as const
  expect(stepsOf(withTrade(held, { status: 'succeeded' }))).toEqual([
    [DAY_S, 'trade 7: the held credit is released, unless the items were taken back'],
  ])
})

it.each<[string, Partial<OutlookTrade>, string]>([
  ['dead', { botState: 'dead', hasGateway: false }, 'bot 2 (Collector) is dead'],
  ['held by no gateway', { hasGateway: false }, 'bot 2 (Collector) is held by no gateway'],
  [
    'paused and held by no gateway',
    { botState: 'paused', hasGateway: false },
    'bot 2 (Collector) is held by no gateway',
  ],
])('the time of a trade’s next step is unknown if its bot is %s', (_, change, why) => {
  expect(stepsOf(withTrade(change))).toEqual([
    [null, `trade 7: the offer is taken off Steam, unless it is accepted; but ${why}`],
  ])
})

it('a paused bot continues its trades under way', () => {
  expect(stepsOf(withTrade({ botState: 'paused' }))[0]?.[0]).toBe(300)
})

it('the steps, with due webhooks among them, are in order of time', () => {
  const due = [{ endpointId: 3n, sequence: 9n, dueAt: at(200), attempts: 2 }]
  expect(stepsOf(withTrade({}, { due }))).toEqual([
    [200, 'event 9 is sent to endpoint 3, attempt 3'],
    [300, 'trade 7: the offer is taken off Steam, unless it is accepted'],
  ])
})

const acts = (change: Partial<OutlookTrade>) => withTrade(change).can.map(({ act, from }) => [act, from])

it('an operator can ask Steam about an open trade, end it, credit it, and deny its shopper', () => {
  expect(acts({})).toEqual([
    ['trade look', null],
    ['trade end', null],
    ['trade credit', null],
    ['shopper deny', null],
  ])
})

it('a held trade can be released a day after its protection ends, and reversed at any time', () => {
  expect(acts({ state: 'held', settlesAt: at(500) })).toEqual([
    ['trade look', null],
    ['trade release', at(500 + DAY_S)],
    ['trade reverse', null],
    ['shopper deny', null],
  ])
  const twoDaysAgo = new Date(NOW.getTime() - 2 * DAY_S * 1000)
  expect(acts({ state: 'held', settlesAt: twoDaysAgo })[1]).toEqual(['trade release', null])
})

it('a release is suggested after the same wait as in the rules of trades', () => {
  expect(RELEASE_WAIT_MS).toBe(RELEASE_AFTER_MS)
})

it('a dead bot can be renewed or retired if a trade waits for it', () => {
  const dead = { botState: 'dead', hasGateway: false } as const
  expect(acts(dead).map(([act]) => act)).toEqual(expect.arrayContaining(['bot renew', 'bot retire']))
  expect(acts({ ...dead, state: 'reversed' }).map(([act]) => act)).toEqual(['shopper deny'])
})

it('a webhook that was given up can be sent again', () => {
  const { can } = withTrade({ state: 'reversed' }, { givenUp: [{ endpointId: 3n, sequence: 9n }] })
  expect(can.map(({ command }) => command)).toContain('webhook replay 3 --from 9 --to 9')
})

it('every suggested act is a real command', () => {
  const names = allCommands().map(({ name }) => name)
  const states: TradeStateColumn[] = ['active', 'held', 'declined', 'unknown']
  const suggested = [
    ...outlookOf(created, NOW).can,
    ...withTrade({ state: 'held', heldMinor: 500n }, { givenUp: [{ endpointId: 3n, sequence: 9n }] }).can,
    ...states.flatMap(
      (state) => withTrade({ state, botState: 'dead', hasGateway: false, offerId: null }).can,
    ),
  ]
  expect(suggested.length).toBeGreaterThan(8)
  expect([...new Set(suggested.map(({ act }) => act))].sort()).toEqual([
    'bot renew',
    'bot retire',
    'deposit hold',
    'deposit release',
    'shopper deny',
    'trade credit',
    'trade end',
    'trade look',
    'trade release',
    'trade reverse',
    'webhook replay',
  ])
  for (const { act, command } of suggested) {
    expect(names).toContain(act)
    expect(command.startsWith(`${act} `)).toBe(true)
  }
})
