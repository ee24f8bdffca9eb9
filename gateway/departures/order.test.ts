/** Each bot's history is read separately, newest first, and the order of the reads must not matter. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BotContext } from '../bots/bot.ts'
import { heldItems } from '../bots/held-item-store.ts'
import { moveItem } from '../bots/items.ts'
import { verifyLedger } from '../ledger/verify.ts'
import { runCommand } from '../testing/command.ts'
import { type FakeSession, fakeSession, receivedIdOf } from '../testing/fake-steam.ts'
import { payFor } from '../testing/payment.ts'
import { testPool } from '../testing/pool.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { steamTrade } from '../testing/trades.ts'
import { tradeHandlers } from '../trades/advance.ts'

const STORAGE = '76561198000009001'
const STRANGER = '76561198000009002'
const OTHER_BOT = '76561198000000002'
const HOUR_MS = 3_600_000

let till: Till
let bot: BotContext
let session: FakeSession
let item: string

beforeEach(async () => {
  till = await startTill()
  ;({ bot, session } = await aBot(till))
  const deposit = await aDeposit(till, await aStore(till), { prices: [1_000n] })
  await payFor(till, { bot, session }, deposit)
  item = receivedIdOf(deposit.body.items[0])
})
afterEach(() => till.close())

const read = (context: BotContext) =>
  tradeHandlers({ ...till.deps, destinations: new Map([['storage', STORAGE]]) }).history(context)

/** The item's ids at the giver, at the receiver, and, once the trade is undone, at the giver again. */
type Moved = { assetId: string; newAssetId: string; back?: string }
type Row = {
  /** Steam id of the other side, whichever way the items go. */
  partner: string
  hours: number
  given?: Moved
  received?: Moved
  state?: 'partly_rolled_back'
  undoes?: string
}

/** Adds a row to a bot's history, or replaces it. `tradeId`: any id. `hours`: from now. */
function addRow(
  { trades }: FakeSession,
  tradeId: string,
  { partner, hours, given, received, state, undoes }: Row,
): void {
  const moved = ({ assetId, newAssetId, back }: Moved) => [
    { appId: 570, contextId: '2', assetId, newAssetId, rolledBackAssetId: back ?? null },
  ]
  const trade = steamTrade({
    tradeId,
    partnerSteamId: partner,
    begunAt: new Date(till.clock.now().getTime() + hours * HOUR_MS),
    received: received ? moved(received) : [],
    given: given ? moved(given) : [],
    ...(state && { state }),
    ...(undoes !== undefined && { rollbackOf: undoes }),
  })
  trades.set(tradeId, { kind: 'trade', trade })
}

const inHand = async () =>
  (await heldItems(till.db)).map(
    ({ botId, assetId }) => `${botId === bot.botId ? 'first' : 'other'} ${assetId}`,
  )

async function differences() {
  const pool = testPool(till.url)
  const found = await verifyLedger(pool)
  await pool.end()
  return found
}

describe('an item that left, came back and left again', () => {
  it('is away, even if the second trade is read before the first is found to be undone', async () => {
    addRow(session, '9500', { partner: STRANGER, hours: 1, given: { assetId: item, newAssetId: '71' } })
    await read(bot)
    expect(await inHand()).toEqual([])
    const undone = { assetId: item, newAssetId: '71', back: item }
    addRow(session, '9500', { partner: STRANGER, hours: 1, given: undone, state: 'partly_rolled_back' })
    addRow(session, '9600', { partner: STORAGE, hours: 2, given: { assetId: item, newAssetId: '72' } })
    await read(bot)
    expect(await inHand()).toEqual([])
  })

  it('is with the bot if both trades were undone before either was read', async () => {
    const undone = { assetId: item, newAssetId: '71', back: item }
    addRow(session, '9500', { partner: STRANGER, hours: 1, given: undone, state: 'partly_rolled_back' })
    addRow(session, '9600', {
      partner: STRANGER,
      hours: 2,
      state: 'partly_rolled_back',
      given: { assetId: item, newAssetId: '72', back: item },
    })
    await read(bot)
    await read(bot)
    expect(await inHand()).toEqual([`first ${item}`])
  })
})

describe('an item that was recorded as moved before it was sent to another bot', () => {
  const recordMoved = async () => {
    const [held] = await heldItems(till.db)
    expect(await moveItem(till.deps, held?.item ?? '')).toMatchObject({ kind: 'moved' })
  }
  const send = async () => {
    addRow(session, '9500', { partner: OTHER_BOT, hours: 1, given: { assetId: item, newAssetId: '71' } })
    await read(bot)
    await read(bot)
  }

  it('is booked to that bot, and out of it when it leaves', async () => {
    const other = await aBot(till, fakeSession(OTHER_BOT))
    await recordMoved()
    await send()
    expect(await inHand()).toEqual(['other 71'])
    addRow(other.session, '9600', { partner: STORAGE, hours: 2, given: { assetId: '71', newAssetId: '72' } })
    await read(other.bot)
    expect(await inHand()).toEqual([])
    expect(await differences()).toEqual([])
  })

  it('is back with the bot that sent it once Steam undoes that trade', async () => {
    await aBot(till, fakeSession(OTHER_BOT))
    await recordMoved()
    await send()
    const undone = { assetId: item, newAssetId: '71', back: '73' }
    addRow(session, '9500', { partner: OTHER_BOT, hours: 1, given: undone, state: 'partly_rolled_back' })
    await read(bot)
    expect(await inHand()).toEqual(['first 73'])
    expect(await differences()).toEqual([])
  })

  it('stays away if it was recorded as sold instead', async () => {
    await aBot(till, fakeSession(OTHER_BOT))
    const [held] = await heldItems(till.db)
    const input = `${held?.item},skinport.com,1,30.00,26.00,USD,2026-11-02\n`
    await runCommand(['items', 'sold', '--reason', 'sold'], { databaseUrl: till.url, input })
    expect(await inHand()).toEqual([])
    await send()
    expect(await inHand()).toEqual([])
    expect(await differences()).toEqual([])
  })
})

describe('an item that a destination sent to another bot', () => {
  let otherBot: { bot: BotContext; session: FakeSession }

  beforeEach(async () => {
    otherBot = await aBot(till, fakeSession(OTHER_BOT))
    // A bot's history is read only if the bot ever held an item.
    const trade = await till.db.selectFrom('trade').select('id').executeTakeFirstOrThrow()
    await till.db
      .insertInto('custody_entry')
      .values({ trade_id: trade.id, asset_id: 'of the other', bot_id: otherBot.bot.botId, moved: 'in' })
      .execute()
  })

  it('is with that bot, even if that bot’s history was read first', async () => {
    addRow(otherBot.session, '9600', {
      partner: STORAGE,
      hours: 2,
      received: { assetId: '71', newAssetId: '81' },
    })
    await read(otherBot.bot)
    expect(await inHand()).toEqual([`first ${item}`])
    addRow(session, '9500', { partner: STORAGE, hours: 1, given: { assetId: item, newAssetId: '71' } })
    await read(bot)
    expect(await inHand()).toEqual(['other 81'])
    await read(otherBot.bot)
    await read(bot)
    expect(await inHand()).toEqual(['other 81'])
  })

  it('is at the first bot after the destination sent it there, even if that last trade is read first', async () => {
    addRow(session, '9700', { partner: STORAGE, hours: 4, received: { assetId: '91', newAssetId: '101' } })
    addRow(session, '9500', { partner: STORAGE, hours: 1, given: { assetId: item, newAssetId: '71' } })
    addRow(otherBot.session, '9600', {
      partner: STORAGE,
      hours: 2,
      received: { assetId: '71', newAssetId: '81' },
    })
    addRow(otherBot.session, '9650', {
      partner: STORAGE,
      hours: 3,
      given: { assetId: '81', newAssetId: '91' },
    })
    for (const context of [bot, otherBot.bot, bot, otherBot.bot, bot]) await read(context)
    expect(await inHand()).toEqual(['first 101'])
  })
})

describe('an item that was moved to another bot', () => {
  it('is at the first bot after the other bot gave it back, even before the first bot’s history is read again', async () => {
    const otherBot = await aBot(till, fakeSession(OTHER_BOT))
    addRow(session, '9500', { partner: OTHER_BOT, hours: 1, given: { assetId: item, newAssetId: '71' } })
    await read(bot)
    expect(await inHand()).toEqual(['other 71'])
    addRow(otherBot.session, '9600', {
      partner: bot.session.steamId,
      hours: 2,
      undoes: '9500',
      given: { assetId: '71', newAssetId: item },
    })
    await read(otherBot.bot)
    expect(await inHand()).toEqual([`first ${item}`])
    // The first bot's history shows the same reversal later, and nothing is booked twice.
    const back = { assetId: item, newAssetId: '71', back: item }
    addRow(session, '9500', { partner: OTHER_BOT, hours: 1, given: back, state: 'partly_rolled_back' })
    for (const context of [bot, otherBot.bot, bot]) await read(context)
    expect(await inHand()).toEqual([`first ${item}`])
  })
})

describe('an item that was moved to another bot, and from there to a stranger', () => {
  const moved = () => ({ assetId: item, newAssetId: '71' })
  const away = { assetId: '71', newAssetId: '81' }
  const firstTrade = { partner: OTHER_BOT, hours: 1 }
  const secondTrade = { partner: STRANGER, hours: 2 }
  // Steam's state of a trade by which any item went back.
  const undone = 'partly_rolled_back'
  let otherBot: Awaited<ReturnType<typeof aBot>>

  beforeEach(async () => {
    otherBot = await aBot(till, fakeSession(OTHER_BOT))
    addRow(session, '9500', { ...firstTrade, given: moved() })
    await read(bot)
    addRow(otherBot.session, '9600', { ...secondTrade, given: away })
    await read(otherBot.bot)
    expect(await inHand()).toEqual([])
  })

  it('is back at the first bot after both trades were undone, the later trade first', async () => {
    addRow(otherBot.session, '9600', { ...secondTrade, given: { ...away, back: '71' }, state: undone })
    await read(otherBot.bot)
    expect(await inHand()).toEqual(['other 71'])
    addRow(session, '9500', { ...firstTrade, given: { ...moved(), back: item }, state: undone })
    await read(bot)
    expect(await inHand()).toEqual([`first ${item}`])
  })

  it('is back at the first bot, even if the first trade was seen to be undone before the second', async () => {
    addRow(session, '9500', { ...firstTrade, given: { ...moved(), back: item }, state: undone })
    await read(bot)
    expect(await inHand()).toEqual([`first ${item}`])
    addRow(otherBot.session, '9600', { ...secondTrade, given: { ...away, back: '71' }, state: undone })
    for (const context of [otherBot.bot, bot]) await read(context)
    expect(await inHand()).toEqual([`first ${item}`])
  })

  it('is back at the first bot, even if only the other bot’s history is read, and the reversal of the first trade appears in it first', async () => {
    const givenBack = { partner: bot.session.steamId, hours: 3, undoes: '9500' }
    addRow(otherBot.session, '9700', { ...givenBack, given: { assetId: '71', newAssetId: item } })
    await read(otherBot.bot)
    expect(await inHand()).toEqual([`first ${item}`])
    addRow(otherBot.session, '9600', { ...secondTrade, given: { ...away, back: '71' }, state: undone })
    for (let turns = 0; turns < 2; turns += 1) await read(otherBot.bot)
    expect(await inHand()).toEqual([`first ${item}`])
  })
})

describe('an item that two bots sent back and forth', () => {
  let otherBot: { bot: BotContext; session: FakeSession }

  /** Each adds one of the three trades. With `back`, that trade is undone, and its item gets this id at the giver. */
  const toOtherBot = (back?: string) =>
    addRow(session, '9500', {
      partner: OTHER_BOT,
      hours: 1,
      given: { assetId: item, newAssetId: '71', ...(back && { back }) },
      ...(back && { state: 'partly_rolled_back' }),
    })
  const toFirstBot = (back?: string) =>
    addRow(otherBot.session, '9600', {
      partner: bot.session.steamId,
      hours: 2,
      given: { assetId: '71', newAssetId: '81', ...(back && { back }) },
      ...(back && { state: 'partly_rolled_back' }),
    })
  const toStorage = (back?: string) =>
    addRow(session, '9700', {
      partner: STORAGE,
      hours: 3,
      given: { assetId: '81', newAssetId: '91', ...(back && { back }) },
      ...(back && { state: 'partly_rolled_back' }),
    })

  beforeEach(async () => {
    otherBot = await aBot(till, fakeSession(OTHER_BOT))
    toOtherBot()
    await read(bot)
    toFirstBot()
    await read(otherBot.bot)
    expect(await inHand()).toEqual(['first 81'])
  })
  afterEach(async () => expect(await differences()).toEqual([]))

  it('is back at the first bot after both trades were undone, even if the reversal of the first trade is read first', async () => {
    toOtherBot(item)
    await read(bot)
    expect(await inHand()).toEqual([`first ${item}`])
    toFirstBot('71')
    for (const context of [otherBot.bot, bot, otherBot.bot]) await read(context)
    expect(await inHand()).toEqual([`first ${item}`])
  })

  it('and then gave away is at the second bot after the last two trades were undone, even if that bot’s history is read first', async () => {
    toStorage()
    await read(bot)
    expect(await inHand()).toEqual([])
    toFirstBot('71')
    await read(otherBot.bot)
    toStorage('81')
    for (const context of [bot, otherBot.bot]) await read(context)
    expect(await inHand()).toEqual(['other 71'])
  })

  it('and then gave away is at the second bot after the last two trades were undone, even if the first bot’s history shows the reversals first', async () => {
    toStorage()
    await read(bot)
    addRow(session, '9800', {
      partner: OTHER_BOT,
      hours: 4,
      undoes: '9600',
      given: { assetId: '81', newAssetId: '71' },
    })
    await read(bot)
    toStorage('81')
    await read(bot)
    toFirstBot('71')
    for (const context of [otherBot.bot, bot]) await read(context)
    expect(await inHand()).toEqual(['other 71'])
  })

  it('and then gave away is at the first bot, even if the reversal of the first trade is read before that of the last', async () => {
    toOtherBot(item)
    await read(bot)
    toStorage('81')
    await read(bot)
    expect(await inHand()).toEqual([`first ${item}`])
  })
})
