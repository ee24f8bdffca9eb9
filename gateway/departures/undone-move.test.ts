/** An operator takes back the record that an item left its bot. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { heldItems } from '../bots/held-item-store.ts'
import { heldByGame } from '../bots/item-store.ts'
import { verifyLedger } from '../ledger/verify.ts'
import { runCommand } from '../testing/command.ts'
import { receivedIdOf } from '../testing/fake-steam.ts'
import { payFor } from '../testing/payment.ts'
import { testPool } from '../testing/pool.ts'
import { aBot, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { steamTrade } from '../testing/trades.ts'
import { tradeHandlers } from '../trades/advance.ts'

let till: Till
let bot: Awaited<ReturnType<typeof aBot>>
/** The ids of a deposit's items, such as `12-345`, and in the same order their asset ids at the bot. */
let items: string[]
let assetIds: string[]

beforeEach(async () => {
  till = await startTill()
  bot = await aBot(till)
  await payFor(till, bot, await aDeposit(till, await aStore(till)))
  const held = await heldItems(till.db)
  items = held.map(({ item }) => item)
  assetIds = held.map(({ item }) => receivedIdOf(item.split('-')[1]))
})
afterEach(() => till.close())

const run = (verb: string, input: string, ...more: string[]) =>
  runCommand(['items', verb, '--reason', 'wrong file', '--by', 'Ada', ...more], {
    databaseUrl: till.url,
    input,
  })
const held = async () => (await heldItems(till.db)).map(({ item }) => item)
const unmove = async (item = items[0]) => {
  const { out, code } = await run('unmoved', `${item}\n`)
  return { out: out.split('\n')[0], code }
}

async function differences() {
  const pool = testPool(till.url)
  const found = await verifyLedger(pool)
  await pool.end()
  return found
}

/** Adds Steam's record of a trade in which the bot gave its first item away. */
function give(): void {
  const asset = {
    appId: 570,
    contextId: '2',
    assetId: assetIds[0] ?? '',
    newAssetId: '7',
    rolledBackAssetId: null,
  }
  const trade = steamTrade({
    tradeId: '9500',
    partnerSteamId: '76561198000009002',
    received: [],
    given: [asset],
    begunAt: till.clock.now(),
  })
  bot.session.trades.set('9500', { kind: 'trade', trade })
}
const readHistory = () => tradeHandlers(till.deps).history(bot.bot)

describe('a record that an item left', () => {
  it('is taken back by the lines that recorded it, and both records stay', async () => {
    const lines = `item,bot\n${items[0]},Tradetill Bot,570\n`
    await run('moved', lines)
    expect(await held()).toEqual(items.slice(1))
    expect(await run('unmoved', lines)).toEqual({
      out: '1 booked to their bots again.\n',
      errors: '',
      code: 0,
    })
    expect(await held()).toEqual([items[1], items[0]])
    expect(await heldByGame(till.db, bot.bot.botId)).toEqual([{ appId: 570, held: 2, protected: 0 }])
    expect(await differences()).toEqual([])
    const acts = await till.db
      .selectFrom('operator_act')
      .select(['act', 'operator', 'reason', 'arguments'])
      .orderBy('id')
      .execute()
    const record = {
      operator: 'Ada',
      reason: 'wrong file',
      arguments: { item: items[0], bot: 'Tradetill Bot' },
    }
    expect(acts).toEqual([
      { ...record, act: 'items moved' },
      { ...record, act: 'items unmoved' },
    ])
    const { out } = await runCommand(['items', 'list'], { databaseUrl: till.url })
    expect(out.trim().split('\n')).toHaveLength(2)
    const history = await runCommand(['items', 'show', items[0] ?? ''], { databaseUrl: till.url })
    expect(history.out.match(/\t(in|out)\t.*by hand/g)).toHaveLength(2)
  })

  it('is taken back only once, and the item can then be recorded as moved again', async () => {
    await run('moved', `${items[0]}\n`)
    await Promise.all([unmove(), unmove()])
    expect(await unmove()).toMatchObject({ code: 0 })
    expect(await held()).toHaveLength(2)
    await run('moved', `${items[0]}\n`)
    expect(await held()).toEqual(items.slice(1))
    await unmove()
    expect(await held()).toHaveLength(2)
    const entries = await till.db
      .selectFrom('custody_entry')
      .select('undoes')
      .where('undoes', 'is not', null)
      .execute()
    expect(entries).toHaveLength(2)
    expect(await differences()).toEqual([])
  })

  it('is not taken back by an id with a zero before it, because the check of the ledger would not find an act with that id', async () => {
    await run('moved', `${items[0]}\n`)
    const answer = await unmove(`0${items[0]}`)
    expect(await differences()).toEqual([])
    expect(answer).toEqual({ out: `0${items[0]} is not an item of the export`, code: 2 })
  })

  it('cannot be taken back if there is none', async () => {
    const { out, errors, code } = await run('unmoved', `${items[0]}\n9-9\nnonsense\n`)
    expect(errors).toBe('3 not booked.\n')
    expect(out.split('\n').slice(0, 3)).toEqual([
      `${items[0]} is not recorded as moved`,
      '9-9 is not an item that a bot ever had',
      'nonsense is not an item of the export',
    ])
    expect(code).toBe(4)
    expect(await held()).toEqual(items)
  })

  it('stays if the item is recorded as sold', async () => {
    await run('sold', `${items[0]},skinport.com,1,30.00,26.00,USD,2026-11-02\n`)
    expect(await unmove()).toEqual({
      out: `${items[0]} is recorded as sold too: a sale cannot be taken back`,
      code: 4,
    })
    expect(await held()).toEqual(items.slice(1))
  })

  it('stays if Steam has reported a trade that took the item', async () => {
    await run('moved', `${items[0]}\n`)
    give()
    await readHistory()
    expect(await unmove()).toEqual({
      out: `${items[0]} has since left its bot in a Steam trade: see items departures`,
      code: 4,
    })
  })

  it('can be taken back before Steam reports a trade that took the item; that report books the item out', async () => {
    await run('moved', `${items[0]}\n`)
    await unmove()
    give()
    await readHistory()
    expect(await held()).toEqual(items.slice(1))
    expect(till.lines.filter((line) => line.includes('without an explanation'))).toHaveLength(1)
    expect(await unmove()).toEqual({ out: `${items[0]} is not recorded as moved`, code: 4 })
    expect(await differences()).toEqual([])
  })
})

it.each([
  [
    'takes back an entry other than the last',
    'update custody_entry set undoes = 1 where undoes is not null',
    'a custody entry does not follow from the one before it',
  ],
  [
    'no act of an operator explains',
    `delete from operator_act where act = 'items unmoved'`,
    'an operator took back the move of an item without a record of it',
  ],
])('the check of the ledger finds an entry that %s', async (_, damage, problem) => {
  await run('moved', `${items[0]}\n`)
  await unmove()
  const pool = testPool(till.url)
  await pool.query(`set session_replication_role = replica; ${damage}`)
  const found = await verifyLedger(pool)
  await pool.end()
  expect(found.map((each) => each.problem)).toEqual([problem])
})
