/** Problems that need a person, and how the till learns of them. */
import { beforeEach, expect, it } from 'vitest'
import {
  createNeeds,
  createNeedsReport,
  MOST_NEEDS,
  type Need,
  type NeedsStore,
  reportFailedStart,
} from './needs.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

let nowMs: number
/** The till's rows. */
let rows: readonly Need[]
let isTillAway: boolean
let writes: number
let logged: string[]

const now = () => new Date(nowMs)
const say = (line: string) => void logged.push(line)
const store: NeedsStore = {
  async read() {
    if (isTillAway) throw new Error('relation "vault_need" does not exist')
    return rows
  },
  async write(needs) {
    if (isTillAway) throw new Error('relation "vault_need" does not exist')
    writes += 1
    rows = needs
  },
}
/** A process of the vault. */
function startProcess() {
  const needs = createNeeds(now)
  return { needs, report: createNeedsReport({ needs, store, now, say }) }
}
const shown = () => rows.map(({ kind, about }) => `${kind} ${about}`)

beforeEach(() => {
  nowMs = 1_800_000_000_000
  rows = []
  isTillAway = false
  writes = 0
  logged = []
})

it('the next report tells the till of new problems and of the end of old ones', async () => {
  const { needs, report } = startProcess()
  await report()
  needs.note('selling_stopped', 'm account 1', 'the market refuses the key')
  await report()
  expect(shown()).toEqual(['selling_stopped m account 1'])
  needs.end('selling_stopped', 'm account 1')
  await report()
  expect(shown()).toEqual([])
})

it('a need about a refused deal keeps the time of its first note and stays for a week after its last, across restarts', async () => {
  const first = startProcess()
  first.needs.note('due_refused', 'm deal 1', 'nothing was given')
  await first.report()
  const since = now()
  nowMs += 6 * DAY_MS
  const second = startProcess()
  await second.report()
  expect(rows).toMatchObject([{ kind: 'due_refused', since }])
  second.needs.note('due_refused', 'm deal 1', 'nothing was given')
  nowMs += 2 * DAY_MS
  await second.report()
  expect(rows).toMatchObject([{ kind: 'due_refused', since }])
  nowMs += 5 * DAY_MS
  await second.report()
  expect(rows).toEqual([])
})

it('a need noted before the till answers does not replace needs that an earlier process reported', async () => {
  const first = startProcess()
  first.needs.note('due_refused', 'm deal 1', 'nothing was given')
  await first.report()
  isTillAway = true
  const second = startProcess()
  second.needs.note('due_refused', 'm deal 2', 'nothing was given')
  await second.report()
  isTillAway = false
  nowMs += MINUTE_MS
  await second.report()
  expect(shown()).toEqual(['due_refused m deal 1', 'due_refused m deal 2'])
})

it('a need that ended before the till answered is not taken over from an earlier process', async () => {
  const first = startProcess()
  first.needs.note('offer_stuck', 'offer 1', 'after a day or longer, Steam still does not show an offer')
  first.needs.note('no_room', 'm sale 7', 'no room')
  await first.report()
  isTillAway = true
  const second = startProcess()
  await second.report()
  second.needs.end('offer_stuck', 'offer 1')
  isTillAway = false
  nowMs += MINUTE_MS
  await second.report()
  expect(shown()).toEqual(['no_room m sale 7'])
})

it('a till that cannot take the reports yet gets them later, and the vault logs the delay once', async () => {
  isTillAway = true
  const { needs, report } = startProcess()
  needs.note('no_room', 'm', 'the limits had no room')
  for (let round = 0; round < 60; round += 1) {
    await report()
    nowMs += 3_000
  }
  expect(logged).toEqual(['what needs a person could not be reported to the till'])
  isTillAway = false
  nowMs += MINUTE_MS
  await report()
  expect(shown()).toEqual(['no_room m'])
})

it('a till that lost the reports has them again within a minute, and rounds without news write nothing', async () => {
  const { needs, report } = startProcess()
  needs.note('no_room', 'm', 'the limits had no room')
  await report()
  for (let round = 0; round < 10; round += 1) {
    needs.note('no_room', 'm', 'the limits had no room')
    await report()
  }
  expect(writes).toBe(1)
  rows = []
  nowMs += MINUTE_MS
  await report()
  expect(shown()).toEqual(['no_room m'])
})

it('only the latest needs are kept, and a market’s texts are cut and lose their control characters', () => {
  const needs = createNeeds(now)
  for (let deal = 0; deal < 3 * MOST_NEEDS; deal += 1) needs.note('unread_deal', `m deal ${deal}`, 'unread')
  needs.note(
    'selling_stopped',
    `m\u001b[2J${'x'.repeat(1_000)}`,
    `the market refuses:\u0000\u202e ${'y'.repeat(1_000)}`,
  )
  const list = needs.list()
  expect(list).toHaveLength(MOST_NEEDS)
  expect(list.at(-2)).toMatchObject({ about: `m deal ${3 * MOST_NEEDS - 1}` })
  const { about = '', text = '' } = list.at(-1) ?? {}
  expect([about.length, text.length]).toEqual([200, 300])
  expect(about + text).not.toMatch(/\p{C}/u)
})

it('until a start succeeds, failed starts are reported with the time of the first', async () => {
  await reportFailedStart({ store, now, say }, new Error('Entry 7 is not what the vault wrote.'))
  const since = now()
  nowMs += MINUTE_MS
  await reportFailedStart({ store, now, say }, new Error('Entry 7 is not what the vault wrote.'))
  expect(rows).toMatchObject([{ kind: 'start_failed', text: expect.stringContaining('Entry 7'), since }])
  await startProcess().report()
  expect(rows).toEqual([])
})
