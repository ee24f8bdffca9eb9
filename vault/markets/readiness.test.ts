/** When an account on a market needs a person. */
import { beforeEach, expect, it } from 'vitest'
import { createNeeds, type Needs } from '../needs.ts'
import { createOutside } from '../testing/outside.ts'
import type { Market } from './market.ts'
import { createReadiness, type Readiness } from './readiness.ts'
import { createTimetable } from './timetable.ts'

const ROUND_MS = 3_000
const MINUTE_MS = 60_000
const ACCOUNT = '76561198000000009'
const READY = { kind: 'answered', value: { problems: [], feeBp: null } } as const

let nowMs: number
let ready: Awaited<ReturnType<Market['ready']>>
let isPingRefused: boolean
let obstacle: string | undefined
let isOffAtTill: boolean
let isSwitchUnreadable: boolean
let needs: Needs
let logged: unknown[]
let readiness: Readiness

const now = () => new Date(nowMs)

beforeEach(() => {
  const { market } = createOutside()
  nowMs = 1_800_000_000_000
  ready = READY
  isPingRefused = false
  obstacle = undefined
  isOffAtTill = false
  isSwitchUnreadable = false
  needs = createNeeds(now)
  logged = []
  readiness = createReadiness(
    {
      market: {
        ...market,
        ready: async () => ready,
        obstacle: () => obstacle,
        keepOnline: async () =>
          isPingRefused
            ? { kind: 'refused', code: 'Invalid access token' }
            : { kind: 'answered', value: null },
      },
      marketAccount: { market: market.name, account: ACCOUNT, isFirst: true },
      account: { accessToken: async () => 'token' },
      tradeToken: undefined,
      till: { isOff: async () => isOffAtTill },
      isOff() {
        if (isSwitchUnreadable) throw new Error('/vault/markets.json is not JSON')
        return false
      },
      now,
      say: (...line) => void logged.push(line),
      needs,
    },
    createTimetable(now),
  )
})

/** Lets this many minutes of rounds pass. */
async function pass(minutes: number): Promise<void> {
  for (const endMs = nowMs + minutes * MINUTE_MS; nowMs < endMs; nowMs += ROUND_MS) {
    await readiness.ask()
    await readiness.stayOnline()
  }
}

/** The need of a vault that stopped selling for this reason. */
const needBecause = (because: string) => ({
  kind: 'selling_stopped',
  about: `m account ${ACCOUNT}`,
  text: `the vault stopped selling: ${because}`,
})

const kinds = () => needs.list().map(({ kind }) => kind)

it.each([
  [{ kind: 'refused', code: 'account_blocked' }, 'the market refuses: account_blocked'],
  [{ kind: 'locked_out' }, 'the market refuses the key'],
  [{ kind: 'answered', value: { problems: ['other_currency'], feeBp: null } }, 'other_currency'],
] as const)(
  'an account that the market does not let sell needs a person until it may sell: %j',
  async (answer, because) => {
    ready = answer
    await pass(1)
    expect(needs.list()).toMatchObject([needBecause(because)])
    ready = READY
    // The market is asked again after half an hour at most.
    await pass(31)
    expect(needs.list()).toEqual([])
  },
)

it('a market that does not answer needs a person an hour after selling stopped, and not before', async () => {
  await pass(1)
  ready = { kind: 'unanswered', because: 'HTTP 502' }
  // The market is asked again after 30 minutes. Five minutes later selling stops, and the hour begins.
  await pass(30 + 5 + 58)
  expect(kinds()).toEqual([])
  await pass(4)
  expect(kinds()).toEqual(['selling_stopped'])
  ready = READY
  await pass(1)
  expect(kinds()).toEqual([])
})

it('a market that refuses pings needs a person after half an hour, and not before', async () => {
  await pass(1)
  isPingRefused = true
  await pass(30)
  expect(kinds()).toEqual([])
  await pass(5)
  const because = 'the market refuses: Invalid access token'
  const text = `the ping has failed for half an hour or longer: ${because}`
  expect(needs.list()).toMatchObject([{ kind: 'seller_offline', text }])
  expect(logged).toContainEqual(['the ping failed', { market: 'm', account: ACCOUNT, because }])
  expect(readiness.listsNothingBecause()).toBe(`the ping failed: ${because}`)
  isPingRefused = false
  await pass(1)
  expect(kinds()).toEqual([])
})

it('a market that takes the pings but hides the listings needs a person, and the vault keeps listing', async () => {
  obstacle = 'Connect to the websocket first'
  await pass(1)
  expect(needs.list()).toMatchObject([
    {
      kind: 'listings_hidden',
      about: `m account ${ACCOUNT}`,
      text: 'the market does not put the listings on sale: Connect to the websocket first',
    },
  ])
  expect(readiness.mayList()).toBe(true)
  obstacle = undefined
  await pass(4)
  expect(needs.list()).toEqual([])
})

it('a market that an operator has switched off does not need a person', async () => {
  isOffAtTill = true
  await pass(120)
  expect(kinds()).toEqual([])
})

it('an account whose switch at the vault cannot be read lists nothing and needs a person until it can be read', async () => {
  isSwitchUnreadable = true
  await pass(1)
  const because = 'the switch at the vault cannot be read: /vault/markets.json is not JSON'
  expect([readiness.stoppedBecause(), readiness.mayList()]).toEqual([because, false])
  expect(needs.list()).toMatchObject([needBecause(because)])
  isSwitchUnreadable = false
  await pass(1)
  expect([readiness.mayList(), kinds()]).toEqual([true, []])
})
