/** D-34: an attacker who controls the gateway can write all that its role may write, but gets no item out. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DAY_S } from '../steam-sandbox/world/world.ts'
import { looksLikeDeposit } from './giving/gift.ts'
import { BOT, openTestBench, STORAGE, type TestBench, THIEF } from './testing/test-bench.ts'

let bench: TestBench

beforeAll(async () => {
  bench = await openTestBench()
  bench.enrol(BOT)
  bench.enrol('Tradetill Bot #2', true)
})
beforeEach(() => {
  bench.restart()
  bench.rules()
  bench.pass(2 * DAY_S * 1_000)
})
afterAll(() => bench.close())

const offersOf = (who: string) =>
  bench.steam.world().offers.filter(({ sender }) => sender === bench.accountOf(who).steamId)

/** The number of items that an account still has after every confirmed offer was accepted. */
async function countLeft(who: string, assets: readonly string[]): Promise<number> {
  await bench.rounds(4)
  for (const each of [STORAGE, THIEF, BOT]) bench.acceptAll(each)
  await bench.rounds(2)
  return bench.countOwned(who, assets)
}

describe('an attacker who controls the gateway gets no item out by', () => {
  it('naming a destination that is not on the list of the vault', async () => {
    const assets = bench.stock(BOT, 4)
    const names = ['thief', '__proto__', 'constructor', 'STORAGE']
    for (const [index, destination] of names.entries())
      await bench.wish(assets.slice(index, index + 1), { destination })
    expect(await countLeft(BOT, assets)).toBe(4)
  })

  it('adding assets to a wish, or changing them, after the vault took it up', async () => {
    const assets = bench.stock(BOT, 3)
    const wish = await bench.wish(assets.slice(0, 1))
    await bench.rounds(1)
    await bench.asGateway.query('update wish_item set asset_id = $2 where wish_id = $1', [wish, assets[1]])
    await bench.asGateway.query(
      `insert into wish_item (wish_id, app_id, context_id, asset_id) values ($1, 570, '2', $2)`,
      [wish, assets[2]],
    )
    expect(await countLeft(BOT, assets)).toBe(2)
    expect(bench.countOwned(BOT, assets.slice(0, 1))).toBe(0)
  })

  it('making another offer with the session of the bot', async () => {
    const [mine = '', ...others] = bench.stock(BOT, 2)
    await bench.wish([mine])
    await bench.rounds(1)
    const { steamId: sender } = bench.accountOf(BOT)
    const { steamId: partner, token } = bench.accountOf(THIEF)
    const [stolen] = bench.accountOf(BOT).assets.filter(({ assetId }) => others.includes(assetId))
    const forged = offersOf(BOT).at(-1)
    if (stolen === undefined || forged === undefined) throw new Error('nothing to steal')
    bench.steam.change((world) => {
      const offer = { ...forged, id: String(world.lastId + 1), partner, give: [stolen], state: 9, sender }
      return {
        world: { ...world, lastId: world.lastId + 1, offers: [...world.offers, offer] },
        answer: token,
      }
    })
    expect(await countLeft(BOT, others)).toBe(1)
    expect(offersOf(BOT).at(-1)?.state).toBe(9)
  })

  it('putting another confirmation under the number of the offer', async () => {
    bench.steam.begin('confirm-something-else', { steamId: bench.accountOf(BOT).steamId })
    const assets = bench.stock(BOT, 1)
    await bench.wish(assets)
    expect(await countLeft(BOT, assets)).toBe(0)
    expect(bench.accountOf(BOT).otherConfirmed ?? 0).toBe(0)
    bench.steam.end('confirm-something-else')
  })

  it('changing an offer on Steam before it is confirmed', async () => {
    const [mine = '', more = ''] = bench.stock(BOT, 2)
    bench.steam.begin('confirm-list-429')
    await bench.wish([mine])
    await bench.rounds(1)
    const offerId = offersOf(BOT).at(-1)?.id
    const extra = bench.accountOf(BOT).assets.filter(({ assetId }) => assetId === more)
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
    expect(await countLeft(BOT, [mine, more])).toBe(2)
  })

  it('replaying a wish after deleting its results', async () => {
    const assets = bench.stock(BOT, 2)
    const wish = await bench.wish(assets.slice(0, 1))
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
    const protectedOnes = bench.stock(BOT, 2, '16')
    await bench.wish(protectedOnes.slice(0, 1), { contextId: '16' })
    await bench.wish(protectedOnes.slice(1))
    expect(await countLeft(BOT, protectedOnes)).toBe(2)
    const seller = 'Tradetill Bot #2'
    const sold = bench.stock(seller, 1)
    await bench.wish(sold, { botId: await bench.botRow(seller) })
    expect(await countLeft(seller, sold)).toBe(1)
  })

  it('giving back items without an approval at the vault', async () => {
    const assets = bench.stock(BOT, 1)
    const of = { kind: 'return', depositId: await bench.deposit(), steamTradeId: '1' } as const
    const wish = await bench.wish(assets, of)
    expect(await countLeft(BOT, assets)).toBe(1)
    expect(await bench.deed(wish)).toEqual({ state: 'waiting', because: 'not approved' })
  })

  it('wishing for more items than the limits allow, even after a restart and a long wait', async () => {
    bench.rules({ limits: { usdAnHour: '100000.00', usdADay: '100000.00', itemsAnHour: 2 } })
    const assets = bench.stock(BOT, 6)
    await bench.wish(assets.slice(0, 2))
    await bench.rounds(1)
    bench.restart()
    const late = await bench.wish(assets.slice(2, 4))
    const tooMuch = await bench.wish(bench.stock(BOT, 3))
    expect(await countLeft(BOT, assets)).toBe(4)
    expect(await bench.deed(tooMuch)).toMatchObject({ state: 'refused' })
    expect(await bench.deed(late)).toEqual({ state: 'waiting', because: 'the limits have no room now' })
    bench.pass(3_600_000)
    expect(await countLeft(BOT, assets)).toBe(2)
  })

  it('wishing for more value than the limits allow, because no price comes from the database', async () => {
    bench.rules({ limits: { usdAnHour: '0.02', usdADay: '0.02', itemsAnHour: 100 } })
    const assets = bench.stock(BOT, 1)
    const wish = await bench.wish(assets)
    expect(await countLeft(BOT, assets)).toBe(1)
    expect(await bench.deed(wish)).toMatchObject({ because: 'more than the limits allow at once' })
  })

  it('making the vault forget what it gave', async () => {
    const assets = bench.stock(BOT, 1)
    await bench.wish(assets)
    expect(await countLeft(BOT, assets)).toBe(0)
    bench.restart()
    const file = join(bench.path, 'log.jsonl')
    const log = readFileSync(file, 'utf8')
    const lines = log.split('\n')
    for (const changed of [lines.slice(1).join('\n'), log.replace('"delivered"', '"ended"'), `${log}{}\n`]) {
      writeFileSync(file, changed)
      expect(() => bench.open()).toThrow('is not what the vault wrote')
    }
    // The vault never acts on an entry that a crash left half written.
    writeFileSync(file, log)
    appendFileSync(file, '{"n":')
    bench.open().close()
    expect(readFileSync(file, 'utf8')).toBe(log)
  })
})

it('the till cannot write results, the vault cannot write wishes, and each role reads only what it needs', async () => {
  for (const statement of [
    `insert into vault_deed values (1, 'delivered')`,
    `update vault_deed set state = 'ended'`,
  ])
    await expect(bench.asGateway.query(statement)).rejects.toThrow('permission denied')
  for (const statement of ['delete from wish', 'select refresh_token from bot', 'select * from deposit'])
    await expect(bench.asVault.query(statement)).rejects.toThrow('permission denied')
})

it.each(['K7MXPQ', 'code K7MXPQ', 'K7MXPQ!'])('the message "%s" looks like a deposit', (message) => {
  expect(looksLikeDeposit(message)).toBe(true)
})
