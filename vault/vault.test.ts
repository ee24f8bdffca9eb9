/** The vault end to end: wishes in a real database, the Steam sandbox, its own files. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { reverseTrade } from '../steam-sandbox/world/trades.ts'
import { BOT, openTestBench, STORAGE, type TestBench } from './testing/test-bench.ts'

let bench: TestBench

beforeAll(async () => {
  bench = await openTestBench()
  bench.enrol(BOT)
  bench.rules()
})
beforeEach(() => {
  bench.restart()
  bench.rules()
  // Two days later, the limits that an earlier test used up have room again.
  bench.pass(2 * 86_400_000)
})
afterAll(() => bench.close())

const offers = () => bench.steam.world().offers
const own = () => offers().filter(({ sender }) => sender === bench.accountOf(BOT).steamId)

describe('a wish for a destination on the list', () => {
  it('is given and confirmed, and reported once Steam has the record of the trade', async () => {
    const assets = bench.stock(BOT, 3)
    const wish = await bench.wish(assets.slice(0, 2))
    await bench.rounds(2)
    expect(own().at(-1)).toMatchObject({ state: 2, items: [] })
    expect(own().at(-1)?.message).toMatch(new RegExp(`^vault w${wish} x[0-9a-f]{8}$`))
    expect(await bench.deed(wish)).toMatchObject({ state: 'offered' })
    bench.acceptAll(STORAGE)
    await bench.rounds(1)
    expect(await bench.deed(wish)).toMatchObject({ state: 'delivered' })
    expect(bench.countOwned(BOT, assets)).toBe(1)
  })

  it('is reported with the till’s time, even if the sandbox’s clock was advanced', async () => {
    const wish = await bench.wish(bench.stock(BOT, 1))
    const before = bench.now()
    await bench.rounds(1)
    const { rows } = await bench.asVault.query(
      'select at >= $2 as later from vault_deed where wish_id = $1',
      [wish, before],
    )
    expect(rows).toEqual([{ later: true }])
  })

  it('is cancelled if the partner does not accept', async () => {
    const assets = bench.stock(BOT, 1)
    const wish = await bench.wish(assets)
    await bench.rounds(2)
    bench.pass(31 * 60_000)
    await bench.rounds(2)
    expect(await bench.deed(wish)).toEqual({ state: 'ended', because: 'withdrawn' })
    expect(own().at(-1)?.state).toBe(6)
    expect(bench.countOwned(BOT, assets)).toBe(1)
  })

  it.each([
    [
      'is delivered if Steam took the trade back before the vault saw it',
      'rolled back',
      { state: 'delivered' },
    ],
    ['has ended if its trade failed', 'failed', { state: 'ended', because: 'failed' }],
  ] as const)('%s', async (_, how, deed) => {
    const wish = await bench.wish(bench.stock(BOT, 1))
    await bench.rounds(2)
    bench.acceptAll(STORAGE)
    const tradeId = own().at(-1)?.tradeId ?? ''
    if (how === 'rolled back')
      bench.steam.change((world, nowS) => reverseTrade(world, { tradeId, bySupport: true }, nowS))
    else
      bench.steam.change((world) => ({
        world: {
          ...world,
          trades: world.trades.map((trade) => (trade.id === tradeId ? { ...trade, status: 4 } : trade)),
        },
        answer: undefined,
      }))
    await bench.rounds(2)
    expect(await bench.deed(wish)).toMatchObject(deed)
  })

  it('ends with the partner’s answer', async () => {
    const wish = await bench.wish(bench.stock(BOT, 1))
    await bench.rounds(2)
    bench.steam.as(STORAGE).decline(own().at(-1)?.id ?? '')
    await bench.rounds(1)
    expect(await bench.deed(wish)).toEqual({ state: 'ended', because: 'declined' })
  })

  it.each(['send-16-sent', 'send-drop-after', 'send-200-empty'])(
    'is searched for after %s, and never sent twice',
    async (fault) => {
      const before = own().length
      bench.steam.begin(fault, { times: 1 })
      const wish = await bench.wish(bench.stock(BOT, 1))
      await bench.rounds(3)
      bench.acceptAll(STORAGE)
      await bench.rounds(4)
      const isSent = fault !== 'send-200-empty'
      expect(own().length - before).toBe(isSent ? 1 : 0)
      expect(await bench.deed(wish)).toMatchObject(
        isSent ? { state: 'delivered' } : { state: 'ended', because: 'never_appeared' },
      )
    },
  )

  it.each([
    'confirm-list-429',
    'confirm-too-many-requests',
    'confirm-list-empty',
    'confirm-list-unreadable',
    'confirm-failed',
    'confirm-failed-done',
    'confirm-drop-after',
    'confirm-429',
  ])('is given in spite of %s', async (fault) => {
    bench.steam.begin(fault, { times: 1 })
    const wish = await bench.wish(bench.stock(BOT, 1))
    await bench.rounds(5)
    bench.acceptAll(STORAGE)
    await bench.rounds(1)
    expect(await bench.deed(wish)).toMatchObject({ state: 'delivered' })
  })

  it('waits while its bot is not enrolled', async () => {
    const other = 'Tradetill Bot #2'
    const wish = await bench.wish(bench.stock(other, 1), { botId: await bench.botRow(other) })
    await bench.rounds(1)
    expect(await bench.deed(wish)).toEqual({ state: 'waiting', because: 'the bot is not enrolled' })
    expect(offers().some(({ sender }) => sender === bench.accountOf(other).steamId)).toBe(false)
  })
})
