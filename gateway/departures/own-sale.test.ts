/** D-34: a bot that collects and sells itself. The till's books, the vault with its own files, and both sandboxes. */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { BOT, openStand, type Stand } from '../../vault/testing/stand.ts'
import type { BotContext } from '../bots/bot.ts'
import { verifyLedger } from '../ledger/verify.ts'
import type { ActDeps } from '../operations/operation.ts'
import { reportSales } from '../operations/sales.ts'
import { sendItems } from '../operations/wishes.ts'
import { type FakeSession, fakeSession } from '../testing/fake-steam.ts'
import { payFor } from '../testing/payment.ts'
import { testPool } from '../testing/pool.ts'
import { aBot, aDeposit, aStore, jump, startTill, type Till } from '../testing/till.ts'
import { steamTrade } from '../testing/trades.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { bookTold } from './vault-reports.ts'

const DOTA = 570
const DAY_S = 86_400
const THURSDAY = 4

let till: Till
let stand: Stand
let bot: BotContext
let session: FakeSession
/** As the bot has them, worth 10 and 20 USD. */
let assets: string[]
let deps: ActDeps

beforeAll(async () => {
  till = await startTill()
  const pool = testPool(till.url)
  stand = await openStand({ database: { url: till.url, pool, close: () => pool.end() } })
  // No day that is a Tuesday in Seattle, when Steam is maintained and nothing is sold.
  await days((7 + THURSDAY - till.clock.now().getUTCDay()) % 7)
  stand.enrol(BOT)
  stand.sellItself(BOT)
  ;({ bot, session } = await aBot(till, fakeSession(stand.accountOf(BOT).steamId)))
  const deposit = await aDeposit(till, await aStore(till))
  await payFor(till, { bot, session }, deposit)
  assets = deposit.body.items.map((assetId) => `5${assetId}`)
  stand.hold(
    BOT,
    assets.map((assetId) => ({ appId: DOTA, assetId })),
  )
  // Of somebody else's: the books do not have it.
  stand.stock(BOT, 1)
  deps = {
    config: Object.assign({}),
    ...{ db: till.db, clock: till.clock, operator: 'Ada', reason: 'to sell them' },
  }
})
afterAll(async () => {
  await stand.close()
  await till.close()
})

async function days(count: number): Promise<void> {
  stand.pass(count * DAY_S * 1_000)
  await jump(till, count * DAY_S)
}

async function rounds(count: number): Promise<void> {
  for (let round = 0; round < count; round += 1) {
    stand.restart()
    await stand.rounds(1)
    await stand.market.look()
  }
  await bookTold(till.deps)
}

/** The bot's history at Steam, read by the till. */
async function readHistory(): Promise<void> {
  for (const trade of stand.steam.world().trades) {
    const given = trade.items.map(({ appId, assetId, newAssetId }) => ({
      ...{ appId, contextId: '2', assetId, newAssetId: newAssetId ?? null, rolledBackAssetId: null },
    }))
    const told = { tradeId: trade.id, partnerSteamId: trade.partner, received: [], given }
    session.trades.set(trade.id, {
      kind: 'trade',
      trade: steamTrade({ ...told, begunAt: till.clock.now() }),
    })
  }
  await tradeHandlers(till.deps).history(bot)
}

const onSale = () => stand.market.world().items.filter(({ status }) => status === 'on_sale')

it('D-34 lists what the books have and is free, and a wish for it waits', async () => {
  await rounds(4)
  expect(
    onSale()
      .map(({ assetId }) => assetId)
      .sort(),
  ).toEqual([...assets].sort())
  expect(stand.said.join()).toContain('a bot that collects deposits sells itself')
  expect(await sendItems(deps, { to: 'storage', assets: undefined })).toMatchObject({
    kind: 'refused',
    message: 'No bot has free items that are in no open wish.',
  })
  // As an attacker in the till writes it.
  const wish = await stand.wish(assets.slice(0, 1), { botId: String(bot.botId), destination: 'own' })
  await rounds(2)
  expect(await stand.deed(wish)).toEqual({ state: 'waiting', because: 'an item is on sale' })
  await stand.attacker.query('update wish set closed_at = now() where id = $1', [wish])
  await stand.attacker.query('update wish_item set is_open = false where wish_id = $1', [wish])
})

it('D-34 what it gives to a buyer is no alarm, leaves the books, and brings its result', async () => {
  const [first] = onSale()
  expect((await stand.market.buy([first?.itemId ?? 0], 'accepts')).kind).toBe('bought')
  await rounds(1)
  // The history may be read before the till has heard that it was given.
  await readHistory()
  await rounds(6)
  await readHistory()
  expect(await till.db.selectFrom('departure').select(['stage', 'explanation']).execute()).toEqual([
    { stage: 'gone', explanation: 'vault' },
  ])
  expect(till.lines.join()).not.toContain('nobody said that they may')
  const answer = await reportSales(deps, { from: new Date(0), to: new Date('2100-01-01') })
  if (answer.kind !== 'done') throw new Error(JSON.stringify(answer))
  const [sold] = answer.data.sales
  expect(sold).toMatchObject({ state: 'paid', reference: String(first?.itemId) })
  expect(Number(sold?.resultMinor)).toBeGreaterThanOrEqual(0)
  expect(await till.db.selectFrom('custody_entry').select('moved').orderBy('id').execute()).toEqual([
    ...[{ moved: 'in' }, { moved: 'in' }, { moved: 'out' }],
  ])
  expect(await verifyLedger(testPool(till.url))).toEqual([])
})

it('D-34 a departure that the till read before it heard of the gift is explained by the delivery', async () => {
  await till.db.updateTable('departure').set({ explanation: null }).execute()
  await sql`insert into vault_told (n, part, at, market, reference, told)
    select n + 1000, part, at, market, reference, told from vault_told
    where told -> 'report' ->> 'kind' = 'delivered'`.execute(till.db)
  await bookTold(till.deps)
  expect(await till.db.selectFrom('departure').select('explanation').execute()).toEqual([
    { explanation: 'vault' },
  ])
  await sql`delete from vault_told where n > 1000`.execute(till.db)
})

it('D-34 an item on its way out by a wish is not listed', async () => {
  stand.switchMarket(true)
  await rounds(2)
  expect(onSale()).toEqual([])
  expect(await sendItems(deps, { to: 'own', assets: undefined })).toMatchObject({ kind: 'done' })
  stand.rules({
    destinations: {
      own: {
        steamId: stand.accountOf('quiet_lynx').steamId,
        tradeLink: stand.steam.as('quiet_lynx').tradeUrl(),
      },
    },
  })
  await rounds(1)
  stand.switchMarket(false)
  await rounds(4)
  expect(onSale()).toEqual([])
  expect(stand.steam.world().offers.filter(({ message }) => message.startsWith('vault w'))).toHaveLength(1)
})
