/**
 * D-34: an attacker who controls the gateway can write all that the gateway's role may write, but gets no item out. Also
 * tests the rights of the roles, and a log that was changed.
 */
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DAY_S, STATE } from '../steam-sandbox/world/world.ts'
import { BOT, openTestBench, STORAGE, type TestBench, THIEF } from './testing/test-bench.ts'

const SELLING_ACCOUNT = 'Tradetill Bot #2'
const HOUR_MS = 3_600_000

let bench: TestBench

beforeAll(async () => {
  bench = await openTestBench()
  bench.enrol(BOT)
  bench.enrol(SELLING_ACCOUNT, true)
})
beforeEach(() => {
  bench.restart()
  bench.writeRules()
  // After two days, the gifts of earlier tests no longer count towards the limits.
  bench.advanceMs(2 * DAY_S * 1_000)
})
afterAll(() => bench.close())

const offersOf = (who: string) =>
  bench.steam.world().offers.filter(({ sender }) => sender === bench.accountOf(who).steamId)

/** Counts how many of these items an account still has after every confirmed offer was accepted. */
async function countLeft(who: string, assets: readonly string[]): Promise<number> {
  await bench.runRounds(4)
  for (const each of [STORAGE, THIEF, BOT]) bench.acceptAll(each)
  await bench.runRounds(2)
  return bench.countOwned(who, assets)
}

describe('an attacker who controls the gateway gets no item out by', () => {
  it('naming a destination that is not on the list of the vault', async () => {
    const assets = bench.addStock(BOT, 4)
    const names = ['thief', '__proto__', 'constructor', 'STORAGE']
    for (const [index, destination] of names.entries())
      await bench.makeWish(assets.slice(index, index + 1), { destination })
    expect(await countLeft(BOT, assets)).toBe(4)
  })

  it('adding assets to a wish, or changing them, after the vault took up the wish', async () => {
    const assets = bench.addStock(BOT, 3)
    const wish = await bench.makeWish(assets.slice(0, 1))
    await bench.runRounds(1)
    await bench.asGateway.query('update wish_item set asset_id = $2 where wish_id = $1', [wish, assets[1]])
    await bench.asGateway.query(
      `insert into wish_item (wish_id, app_id, context_id, asset_id) values ($1, 570, '2', $2)`,
      [wish, assets[2]],
    )
    expect(await countLeft(BOT, assets)).toBe(2)
    expect(bench.countOwned(BOT, assets.slice(0, 1))).toBe(0)
  })

  it('making another offer with the session of the bot', async () => {
    const [wished = '', ...others] = bench.addStock(BOT, 2)
    await bench.makeWish([wished])
    await bench.runRounds(1)
    const { steamId: sender } = bench.accountOf(BOT)
    const { steamId: partner } = bench.accountOf(THIEF)
    const [stolen] = bench.accountOf(BOT).assets.filter(({ assetId }) => others.includes(assetId))
    const genuine = offersOf(BOT).at(-1)
    if (stolen === undefined || genuine === undefined) throw new Error('nothing to steal')
    bench.steam.change((world) => {
      const id = String(world.lastId + 1)
      const forged = { ...genuine, id, sender, partner, give: [stolen], state: STATE.needsConfirmation }
      return {
        world: { ...world, lastId: world.lastId + 1, offers: [...world.offers, forged] },
        answer: undefined,
      }
    })
    expect(await countLeft(BOT, others)).toBe(1)
    expect(offersOf(BOT).at(-1)?.state).toBe(STATE.needsConfirmation)
  })

  it('putting another confirmation under the number of the offer', async () => {
    bench.steam.begin('confirm-something-else', { steamId: bench.accountOf(BOT).steamId })
    const assets = bench.addStock(BOT, 1)
    await bench.makeWish(assets)
    // The wish itself is carried out.
    expect(await countLeft(BOT, assets)).toBe(0)
    expect(bench.accountOf(BOT).otherConfirmed ?? 0).toBe(0)
    bench.steam.end('confirm-something-else')
  })

  it('changing an offer on Steam before its confirmation', async () => {
    const [wished = '', added = ''] = bench.addStock(BOT, 2)
    bench.steam.begin('confirm-list-429')
    await bench.makeWish([wished])
    await bench.runRounds(1)
    const offerId = offersOf(BOT).at(-1)?.id
    const extra = bench.accountOf(BOT).assets.filter(({ assetId }) => assetId === added)
    bench.steam.change((world) => ({
      world: {
        ...world,
        offers: world.offers.map((offer) =>
          offer.id === offerId ? { ...offer, give: [...offer.give, ...extra] } : offer,
        ),
      },
      answer: undefined,
    }))
    bench.steam.end('confirm-list-429')
    expect(await countLeft(BOT, [wished, added])).toBe(2)
  })

  it('replaying a delivered wish with another item', async () => {
    const assets = bench.addStock(BOT, 2)
    const wish = await bench.makeWish(assets.slice(0, 1))
    expect(await countLeft(BOT, assets)).toBe(1)
    await expect(bench.asGateway.query('delete from vault_deed where wish_id = $1', [wish])).rejects.toThrow(
      'permission denied',
    )
    await bench.asGateway.query('delete from wish_item where wish_id = $1', [wish])
    await bench.asGateway.query(
      `insert into wish_item (wish_id, app_id, context_id, asset_id) values ($1, 570, '2', $2)`,
      [wish, assets[1]],
    )
    bench.restart()
    expect(await countLeft(BOT, assets)).toBe(1)
  })

  it('wishing for protected items, or for items of a selling account', async () => {
    // Steam keeps protected items in context 16, and all others in context 2.
    const protectedItems = bench.addStock(BOT, 2, '16')
    await bench.makeWish(protectedItems.slice(0, 1), { contextId: '16' })
    await bench.makeWish(protectedItems.slice(1), { contextId: '2' })
    expect(await countLeft(BOT, protectedItems)).toBe(2)
    const forSale = bench.addStock(SELLING_ACCOUNT, 1)
    await bench.makeWish(forSale, { botId: await bench.addBotRow(SELLING_ACCOUNT) })
    expect(await countLeft(SELLING_ACCOUNT, forSale)).toBe(1)
  })

  it('wishing to give items back without a person’s approval at the vault', async () => {
    const assets = bench.addStock(BOT, 1)
    const depositId = await bench.makeDeposit()
    const wish = await bench.makeWish(assets, { kind: 'return', depositId, steamTradeId: '1' })
    expect(await countLeft(BOT, assets)).toBe(1)
    expect(await bench.readDeed(wish)).toEqual({ state: 'waiting', because: 'not approved' })
  })

  it('wishing for more items than the limits allow within an hour, even after a restart', async () => {
    bench.writeRules({ limits: { usdAnHour: '100000.00', usdADay: '100000.00', itemsAnHour: 2 } })
    const assets = bench.addStock(BOT, 6)
    await bench.makeWish(assets.slice(0, 2))
    await bench.runRounds(1)
    bench.restart()
    const later = await bench.makeWish(assets.slice(2, 4))
    const tooMuch = await bench.makeWish(bench.addStock(BOT, 3))
    expect(await countLeft(BOT, assets)).toBe(4)
    expect(await bench.readDeed(tooMuch)).toMatchObject({ state: 'refused' })
    expect(await bench.readDeed(later)).toEqual({ state: 'waiting', because: 'the limits have no room now' })
    bench.advanceMs(HOUR_MS)
    expect(await countLeft(BOT, assets)).toBe(2)
  })

  it('wishing for more value than the limits allow', async () => {
    bench.writeRules({ limits: { usdAnHour: '0.02', usdADay: '0.02', itemsAnHour: 100 } })
    const assets = bench.addStock(BOT, 1)
    const wish = await bench.makeWish(assets)
    expect(await countLeft(BOT, assets)).toBe(1)
    expect(await bench.readDeed(wish)).toMatchObject({ because: 'more than the limits allow at once' })
  })
})

it('the gateway cannot write results, and the vault can neither delete wishes nor read deposits or the tokens of bots', async () => {
  for (const statement of [
    `insert into vault_deed values (1, 'delivered')`,
    `update vault_deed set state = 'ended'`,
    `insert into vault_need values ('no_room', '', 'x', now(), now())`,
    'delete from vault_need',
    'delete from vault_unlisted',
  ])
    await expect(bench.asGateway.query(statement)).rejects.toThrow('permission denied')
  for (const statement of ['delete from wish', 'select refresh_token from bot', 'select * from deposit'])
    await expect(bench.asVault.query(statement)).rejects.toThrow('permission denied')
})

it('a vault does not start if its log was changed or deleted, but cuts off an entry that a crash left incomplete', async () => {
  const assets = bench.addStock(BOT, 1)
  await bench.makeWish(assets)
  expect(await countLeft(BOT, assets)).toBe(0)
  bench.restart()
  const file = join(bench.path, 'log.jsonl')
  const log = readFileSync(file, 'utf8')
  const lines = log.split('\n')
  for (const changed of [lines.slice(1).join('\n'), log.replace('"delivered"', '"ended"'), `${log}{}\n`]) {
    writeFileSync(file, changed)
    expect(() => bench.open()).toThrow('is not what the vault wrote')
  }
  rmSync(file)
  expect(() => bench.open()).toThrow('is missing')
  writeFileSync(file, log, { mode: 0o600 })
  appendFileSync(file, '{"n":')
  bench.open().close()
  expect(readFileSync(file, 'utf8')).toBe(log)
})
