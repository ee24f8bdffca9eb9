/**
 * D-34: a collecting bot that sells its own items, with the till's books, the vault with its own files, and both
 * sandboxes.
 */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { BOT } from '../../vault/testing/test-bench.ts'
import { verifyLedger } from '../ledger/verify.ts'
import { reportSales } from '../operations/sales.ts'
import { sendItems } from '../operations/wishes.ts'
import { testPool } from '../testing/pool.ts'
import { type SellingTill, startSellingTill } from '../testing/selling-till.ts'
import { bookVaultLog } from './vault-reports.ts'

const THURSDAY = 4

let selling: SellingTill
/** Asset ids in the bot's inventory. The items are worth 10 and 20 USD. */
let assets: string[]

beforeAll(async () => {
  // Everything happens before the next Tuesday. During Steam's maintenance on Tuesdays, nothing is sold.
  selling = await startSellingTill(THURSDAY)
  selling.bench.letSellOwnItems(BOT)
  assets = await selling.pay('dota')
  // An item of the bot that no deposit brought.
  selling.bench.addStock(BOT, 1)
})
afterAll(() => selling.close())

it('D-34 a bot lists the free items that deposits brought, and a wish for a listed item waits', async () => {
  const { bench, bot, acts, runRounds, itemsOnSale } = selling
  await runRounds(4)
  expect(
    itemsOnSale()
      .map(({ assetId }) => assetId)
      .sort(),
  ).toEqual([...assets].sort())
  expect(bench.logged.join()).toContain('a bot that collects deposits sells its own items')
  expect(await sendItems(acts, { to: 'storage', assets: undefined })).toMatchObject({
    kind: 'refused',
    message: 'There are no free items to send.',
  })
  // An attacker in the till could write this wish.
  const wish = await bench.makeWish(assets.slice(0, 1), { botId: String(bot.botId), destination: 'own' })
  await runRounds(2)
  expect(await bench.readDeed(wish)).toEqual({ state: 'waiting', because: 'an item is on sale' })
  await bench.asGateway.query('update wish set closed_at = now() where id = $1', [wish])
  await bench.asGateway.query('update wish_item set is_open = false where wish_id = $1', [wish])
})

it('D-34 an item that the bot gives to a buyer causes no alarm, leaves custody, and brings proceeds', async () => {
  const { till, bench, acts, runRounds, readHistory, itemsOnSale } = selling
  const [first] = itemsOnSale()
  expect((await bench.market.buy([first?.itemId ?? 0], 'accepts')).kind).toBe('bought')
  await runRounds(1)
  // The history may be read before the vault's report of the gift.
  await readHistory()
  await runRounds(6)
  await readHistory()
  expect(await till.db.selectFrom('departure').select(['stage', 'explanation']).execute()).toEqual([
    { stage: 'gone', explanation: 'vault' },
  ])
  expect(till.lines.join()).not.toContain('without an explanation')
  const answer = await reportSales(acts, { from: new Date(0), to: new Date('2100-01-01') })
  if (answer.kind !== 'done') throw new Error(JSON.stringify(answer))
  const [sold] = answer.data.sales
  expect(sold).toMatchObject({ state: 'paid', reference: String(first?.itemId) })
  expect(sold?.resultMinor).toBeGreaterThanOrEqual(0n)
  const moves = await till.db.selectFrom('custody_entry').select('moved').orderBy('id').execute()
  expect(moves.map(({ moved }) => moved)).toEqual(['in', 'in', 'out'])
  const pool = testPool(till.url)
  onTestFinished(() => pool.end())
  expect(await verifyLedger(pool)).toEqual([])
})

it('D-34 the report of a delivery explains a departure that was read before the report', async () => {
  const { till } = selling
  await till.db.updateTable('departure').set({ explanation: null }).execute()
  // Copies the vault's report under a new number, as if it arrived only now.
  await sql`insert into vault_told (n, part, at, market, reference, told)
    select n + 1000, part, at, market, reference, told from vault_told
    where told -> 'report' ->> 'kind' = 'delivered'`.execute(till.db)
  await bookVaultLog(till.deps)
  expect(await till.db.selectFrom('departure').select('explanation').execute()).toEqual([
    { explanation: 'vault' },
  ])
  await sql`delete from vault_told where n > 1000`.execute(till.db)
})

it('D-34 an item that is leaving because of a wish is not listed', async () => {
  const { bench, acts, runRounds, itemsOnSale } = selling
  bench.switchMarketOff()
  await runRounds(2)
  expect(itemsOnSale()).toEqual([])
  expect(await sendItems(acts, { to: 'own', assets: undefined })).toMatchObject({ kind: 'done' })
  bench.writeRules({
    destinations: {
      own: {
        steamId: bench.accountOf('quiet_lynx').steamId,
        tradeLink: bench.steam.as('quiet_lynx').tradeUrl(),
      },
    },
  })
  await runRounds(1)
  bench.switchMarketOn()
  await runRounds(4)
  expect(itemsOnSale()).toEqual([])
  // The wish's offer, recognised by its message.
  expect(bench.steam.world().offers.filter(({ message }) => message.startsWith('vault w'))).toHaveLength(1)
})
