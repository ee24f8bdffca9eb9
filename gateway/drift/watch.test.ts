import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readNeeds } from '../alerts/needs-store.ts'
import { type BotContext, botQueue } from '../bots/bot.ts'
import { heldItems } from '../bots/held-item-store.ts'
import { moveItem } from '../bots/items.ts'
import { selectDepartures } from '../departures/list-store.ts'
import { createMetrics } from '../metrics.ts'
import type { OwnItem } from '../steam/steam.ts'
import { runCommand } from '../testing/command.ts'
import { type FakeSession, receivedIdOf } from '../testing/fake-steam.ts'
import { offerFor, payFor } from '../testing/payment.ts'
import { aBot, aDeposit, aStore, jump, startTill, type Till } from '../testing/till.ts'
import { steamTrade } from '../testing/trades.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { createDriftGauges, surveyDrift, sweepDrift, sweepFarLooks } from './jobs.ts'
import { countDrift, selectDrift } from './list-store.ts'
import { createDriftStore } from './store.ts'
import { driftHandler } from './watch.ts'

const HOUR_MS = 3_600_000
const STORAGE = '76561198000009001'

let till: Till
let store: { id: bigint }
let bot: BotContext
let session: FakeSession

beforeEach(async () => {
  till = await startTill()
  store = await aStore(till)
  ;({ bot, session } = await aBot(till))
})
afterEach(() => till.close())

const driftDeps = () => ({ ...till.deps, drift: createDriftStore(till.db) })
const passTime = (ms: number) => jump(till, ms / 1_000)
const look = (context = bot) => driftHandler(driftDeps())(context)

/** Delivers two items, puts them into the bot's inventory on Steam, and lets an hour pass. */
async function deliver(game: 'cs' | 'dota' = 'dota'): Promise<OwnItem[]> {
  const deposit = await aDeposit(till, store, { game })
  await payFor(till, { bot, session }, deposit)
  const appId = game === 'cs' ? 730 : 570
  const items = deposit.body.items.map((assetId, index): OwnItem => {
    const contextId = game === 'cs' ? '16' : '2'
    return { appId, contextId, assetId: receivedIdOf(assetId), marketHashName: `Item ${index}` }
  })
  session.ownItems.push(...items)
  await passTime(HOUR_MS)
  return items
}

/** Makes a complete pass through the bot's history. */
const readHistory = () => tradeHandlers(till.deps).history(bot)

/** Runs the job three times, with a pass through the history after each: enough to make a finding certain. */
async function lookUntilSure(): Promise<void> {
  for (let runs = 0; runs < 3; runs += 1) {
    await look()
    await passTime(HOUR_MS)
    await readHistory()
  }
}

/** The findings, such as `missing 12`. A question mark follows those that are not certain yet. */
async function findings() {
  const [listed] = await selectDrift(till.db, {})
  return (listed?.drift ?? []).map(({ kind, assetId, isSure }) => `${kind} ${assetId}${isSure ? '' : '?'}`)
}

/** How many missing items the metrics and the alerts report. */
async function counts() {
  const counted = await countDrift(till.db)
  const { itemsMissing } = await readNeeds(till.db)
  return { ofMetrics: counted.reduce((sum, { missing }) => sum + missing, 0), ofNeeds: itemsMissing }
}

const alarms = () => till.lines.filter((line) => line.includes('items are missing from a bot'))

describe('D-34 a bot’s own inventory', () => {
  it('that matches custody is seen completely, protected items included, without a finding', async () => {
    await deliver('cs')
    await deliver()
    await lookUntilSure()
    expect(await findings()).toEqual([])
    expect(session.calls.filter((call) => call.startsWith('own'))).toEqual([
      'own cs, protected',
      'own dota',
      'own rust',
      'own tf',
    ])
    const [listed] = await selectDrift(till.db, {})
    expect(listed?.wholeAt).toEqual(listed?.lookedAt)
    expect(listed?.wholeAt).not.toBeNull()
  })

  it('is found to lack an item that vanished without a trade, once two looks agree and the history explains nothing', async () => {
    const [lost] = await deliver('cs')
    session.ownItems = session.ownItems.filter((item) => item !== lost)
    await look()
    expect(await findings()).toEqual([`missing ${lost?.assetId}?`])
    expect(alarms()).toEqual([])
    await passTime(HOUR_MS)
    await readHistory()
    await passTime(1_000)
    await look()
    await passTime(1_000)
    expect(alarms()).toEqual([])
    await readHistory()
    await passTime(HOUR_MS)
    await look()
    expect(await findings()).toEqual([`missing ${lost?.assetId}`])
    expect(alarms()).toHaveLength(1)
    await passTime(24 * HOUR_MS)
    await look()
    expect(alarms()).toHaveLength(1)
  })

  it('matches custody once the operator has recorded the vanished item as moved', async () => {
    const [lost] = await deliver()
    session.ownItems = session.ownItems.filter((item) => item !== lost)
    await lookUntilSure()
    const held = await heldItems(till.db)
    const item = held.find(({ assetId }) => assetId === lost?.assetId)?.item
    const result = await runCommand(['items', 'moved', '--reason', 'lost'], {
      databaseUrl: till.url,
      input: `${item}\n`,
    })
    expect(result.code).toBe(0)
    await look()
    expect(await findings()).toEqual([])
  })

  it('no longer counts as lacking an item recorded as moved, even if the bot is dead and no look follows', async () => {
    const [lost] = await deliver()
    session.ownItems = session.ownItems.filter((item) => item !== lost)
    await lookUntilSure()
    await till.db.updateTable('bot').set({ state: 'dead' }).execute()
    expect(await findings()).toEqual([`missing ${lost?.assetId}`])
    expect(await counts()).toEqual({ ofMetrics: 1, ofNeeds: 1 })
    const moved = (await heldItems(till.db)).find(({ assetId }) => assetId === lost?.assetId)
    await moveItem(till.deps, moved?.item ?? '')
    expect(await findings()).toEqual([])
    expect(await counts()).toEqual({ ofMetrics: 0, ofNeeds: 0 })
  })

  it('no longer counts as lacking an item once the bot is removed', async () => {
    const [lost] = await deliver()
    session.ownItems = session.ownItems.filter((item) => item !== lost)
    await lookUntilSure()
    await till.db.updateTable('bot').set({ state: 'removed' }).execute()
    expect(await selectDrift(till.db, {})).toEqual([])
    expect(await counts()).toEqual({ ofMetrics: 0, ofNeeds: 0 })
  })

  it('is found to lack, within about a month, an item of a failed trade that Steam never undid', async () => {
    const [lost] = await deliver()
    session.ownItems = session.ownItems.filter((item) => item !== lost)
    const given = [
      { appId: 570, contextId: '2', assetId: lost?.assetId ?? '', newAssetId: null, rolledBackAssetId: null },
    ]
    const begunTrade = { tradeId: '9500', partnerSteamId: STORAGE, begunAt: till.clock.now() }
    const trade = steamTrade({ ...begunTrade, received: [], given, state: 'abandoned' })
    session.trades.set('9500', { kind: 'trade', trade })
    await readHistory()
    await look()
    expect(await findings()).toEqual([])
    await passTime(31 * 24 * HOUR_MS)
    await lookUntilSure()
    expect(await findings()).toEqual([`missing ${lost?.assetId}`])
    expect(alarms()).toHaveLength(1)
  })

  it('is not found to lack an item that left by a trade that the history shows only after the first look', async () => {
    const items = await deliver()
    const [sent] = items
    session.ownItems = session.ownItems.filter((item) => item !== sent)
    const given = [
      { appId: 570, contextId: '2', assetId: sent?.assetId ?? '', newAssetId: '77', rolledBackAssetId: null },
    ]
    const trade = steamTrade({
      tradeId: '9500',
      partnerSteamId: STORAGE,
      received: [],
      given,
      begunAt: till.clock.now(),
    })
    await look()
    session.trades.set('9500', { kind: 'trade', trade })
    await lookUntilSure()
    expect(await findings()).toEqual([])
    expect(alarms()).toEqual([])
  })

  it('is not found to lack anything if Steam shows only a part; the incomplete look is logged', async () => {
    await deliver()
    session.ownItems = []
    session.isOwnComplete = false
    await lookUntilSure()
    expect(await findings()).toEqual([])
    const [listed] = await selectDrift(till.db, {})
    expect(listed).toMatchObject({ wholeAt: null, lookedAt: expect.any(Date) })
    session.isDown = true
    await look()
    expect(alarms()).toEqual([])
    const [line = '{}'] = till.lines.filter((each) => each.includes('was not read completely'))
    expect(JSON.parse(line)).toMatchObject({ level: 'warn', detail: 'cs: only a part was shown' })
  })

  it('is found to have foreign items, but those of an accepted offer whose delivery is not proved yet do not count', async () => {
    session.ownItems.push({ appId: 440, contextId: '2', assetId: '9', marketHashName: 'Key' })
    const deposit = await aDeposit(till, store)
    const { offerId } = await offerFor(till, bot, deposit)
    session.accept(offerId, { isReceived: false })
    session.ownItems.push({ appId: 570, contextId: '2', assetId: '901', marketHashName: 'Item 0' })
    await lookUntilSure()
    expect(await findings()).toEqual(['foreign 9'])
    expect(alarms()).toEqual([])
  })

  it('provides asset ids that Steam did not give, and a departure of such an asset is booked and listed by name', async () => {
    const deposit = await aDeposit(till, store)
    const { tradeId, offerId } = await offerFor(till, bot, deposit)
    session.accept(offerId)
    for (const answer of session.trades.values())
      if (answer.kind === 'trade') for (const asset of answer.trade.received) asset.newAssetId = null
    await tradeHandlers(till.deps).trade(bot, tradeId)
    expect((await heldItems(till.db)).map(({ assetId }) => assetId)).toEqual([null, null])
    session.ownItems.push({ appId: 570, contextId: '2', assetId: '901', marketHashName: 'Item 0' })
    session.ownItems.push({ appId: 570, contextId: '2', assetId: '902', marketHashName: 'Item 1' })
    await passTime(HOUR_MS)
    await look()
    expect((await heldItems(till.db)).map(({ assetId }) => assetId)).toEqual(['901', '902'])
    const given = [{ appId: 570, contextId: '2', assetId: '901', newAssetId: '77', rolledBackAssetId: null }]
    const trade = steamTrade({
      tradeId: '9500',
      partnerSteamId: STORAGE,
      received: [],
      given,
      begunAt: till.clock.now(),
    })
    session.trades.set('9500', { kind: 'trade', trade })
    await readHistory()
    expect((await heldItems(till.db)).map(({ assetId }) => assetId)).toEqual(['902'])
    const [departure] = await selectDepartures(till.db, { limit: 1 })
    expect(departure?.items).toMatchObject([{ assetId: '901', marketHashName: 'Item 0' }])
  })

  it('gets no finding from a gateway whose lease of the bot has ended', async () => {
    const [lost] = await deliver()
    session.ownItems = session.ownItems.filter((item) => item !== lost)
    await look({ ...bot, leaseEpoch: 0n })
    expect(await findings()).toEqual([])
    expect(await till.db.selectFrom('custody_look').selectAll().execute()).toEqual([])
  })
})

describe('the daily look', () => {
  const dueTimes = async () => {
    return till.db.selectFrom('custody_look').select(['bot_id', 'due_at']).orderBy('due_at').execute()
  }
  const takeDue = () =>
    driftDeps().drift.takeDue({ now: till.clock.now(), nextAt: later(HOUR_MS / 2), limit: 2 })
  const later = (ms: number) => new Date(till.clock.now().getTime() + ms)

  it('comes within a day, at different times for different bots, and in only one process', async () => {
    for (const lastDigit of [2, 3, 4, 5, 6, 7, 8]) {
      const steamId = `7656119800000000${lastDigit}`
      await till.db
        .insertInto('bot')
        .values({
          steam_id: steamId,
          name: 'b',
          avatar_url: 'a',
          profile_url: 'p',
          level: 1,
          refresh_token: Buffer.from('x'),
        })
        .execute()
    }
    expect(await takeDue()).toEqual([])
    const quarters = (await dueTimes()).map(({ due_at: due }) =>
      Math.floor((due.getTime() - till.clock.now().getTime()) / (6 * HOUR_MS)),
    )
    expect(new Set(quarters)).toEqual(new Set([0, 1, 2, 3]))
    await passTime(24 * HOUR_MS)
    const taken = await Promise.all([takeDue(), takeDue(), takeDue(), takeDue(), takeDue()])
    expect(taken.flat().sort()).toEqual((await dueTimes()).map(({ bot_id: id }) => id).sort())
  })

  it('comes at once if a clock that was two days ahead scheduled it, and a day later after that', async () => {
    const calls = async () => {
      const before = session.calls.length
      await look()
      return session.calls.length - before
    }
    till.clock.advance(48 * HOUR_MS)
    await look()
    till.clock.advance(-48 * HOUR_MS)
    await sweepFarLooks(till.deps)
    expect(await takeDue()).toEqual([bot.botId])
    expect(await calls()).toBeGreaterThan(0)
    expect((await dueTimes()).map(({ due_at: due }) => due)).toEqual([later(24 * HOUR_MS)])
    await sweepFarLooks(till.deps)
    expect([await takeDue(), await calls()]).toEqual([[], 0])
    expect(till.lines.filter((line) => line.includes('were due far ahead'))).toHaveLength(1)
  })

  it('comes early if an operator asks; its findings are listed for the operator and counted in metrics', async () => {
    const run = (...args: string[]) => runCommand(['items', 'drift', ...args], { databaseUrl: till.url })
    const [lost] = await deliver()
    session.ownItems = session.ownItems.filter((item) => item !== lost)
    await lookUntilSure()
    await till.db
      .updateTable('custody_look')
      .set({ due_at: later(24 * HOUR_MS) })
      .execute()
    expect(await run('--bot', 'nobody', '--now')).toMatchObject({ code: 3 })
    const jobs: unknown[] = []
    await till.deps.queue.work(botQueue(bot.botId), async (job) => void jobs.push(job))
    await sweepDrift(driftDeps())
    expect(await run('--bot', 'Tradetill Bot', '--now', '--by', 'Ada')).toMatchObject({ code: 0 })
    // The command reads a running clock, so let the test's stopped clock get past it.
    await passTime(60_000)
    await sweepDrift(driftDeps())
    await expect.poll(() => jobs).toContainEqual({ kind: 'drift' })
    const acts = await till.db.selectFrom('operator_act').select(['act', 'operator', 'arguments']).execute()
    expect(acts).toEqual([{ act: 'items drift', operator: 'Ada', arguments: { bots: [String(bot.botId)] } }])
    const shown = await run()
    expect(shown.out).toContain('MISSING ON STEAM')
    expect(shown.out).toContain(lost?.assetId)
    expect(shown.out).toContain('a check begins within seconds')

    const { registry } = createMetrics()
    await surveyDrift({ ...till.deps, gauges: createDriftGauges(registry) })
    const text = await registry.metrics()
    expect(text).toContain(`tradetill_bot_custody_drift{bot="${session.steamId}",kind="missing"} 1`)
    expect(text).toContain(`tradetill_bot_custody_drift{bot="${session.steamId}",kind="foreign"} 0`)
    expect(text).toMatch(/tradetill_bot_custody_look_seconds\{bot="\d+"\} \d+/)
  })
})
