import { describe, expect, it } from 'vitest'
import { PLAIN_KEY } from '../testing/memory-log.ts'
import { liveConnection, sandboxConnection } from './clients/connection.ts'
import { historySchema, outcomesOf } from './clients/family-answers.ts'
import { bareNumber, parseLossless } from './clients/lossless-json.ts'
import { createPace } from './clients/pace.ts'
import { type HistoryRow, rowUnderWay } from './clients/waxpeer-answers.ts'
import { fromLog, toLog } from './entries.ts'
import { scaleOf } from './scale.ts'

describe('scales', () => {
  it.each([
    ['USD', 1_234n, 12_340n, 12.34],
    ['EUR', 1n, 10n, 0.01],
    ['RUB', 1_234n, 1_234n, 12.34],
  ])('convert amounts in %s: %d minor units', (currency, minor, units, major) => {
    const scale = scaleOf(currency)
    expect(scale?.toUnits(minor)).toBe(units)
    expect(scale?.toMinor(units)).toBe(minor)
    expect(scale?.majorToMinor(major)).toBe(minor)
    expect([scale?.isPrice(Number(units), minor), scale?.isPrice(major, minor)]).toEqual([true, true])
    expect(scale?.isPrice(Number(units) * 10, minor)).toBe(false)
  })

  it('round down, and are undefined for an unknown currency', () => {
    expect(scaleOf('USD')?.toMinor(11_729n)).toBe(1_172n)
    expect(scaleOf('GBP')).toBeUndefined()
  })
})

describe('an entry about a sale in the log', () => {
  const at = new Date(0)
  const read = (entry: ReturnType<typeof toLog>) => fromLog({ n: 7, at, entry }, PLAIN_KEY)

  it('is read as it was written, and entries of other kinds are skipped', () => {
    const asset = { appId: 730, contextId: '2', assetId: '5' }
    const due = {
      dealId: '1',
      partnerSteamId: '76561198000000001',
      token: 'tok-en_1',
      message: '',
      assets: [asset],
    }
    const intended = { kind: 'deal_intended', market: 'market', account: null, due, itemIds: ['9'] } as const
    expect(read(toLog(intended, PLAIN_KEY))).toEqual({ at, entry: intended })
    expect(read({ kind: 'intended' })).toBeUndefined()
  })

  it('is not written if it could not be read again', () => {
    const settlesAt = new Date(1_800_000_000_000_000)
    const end = { kind: 'settling', receivedMinor: 1n, settlesAt } as const
    expect(() => toLog({ kind: 'outcome', market: 'market', itemId: '9', end }, PLAIN_KEY)).toThrow(
      'settlesAt',
    )
  })

  it('stops an older vault that cannot read it', () => {
    const sale = { kind: 'send_begun', market: 'market', dealId: '1', since: 'a later version' }
    expect(() => read({ kind: 'sale', sale })).toThrow('Entry 7 of the vault')
    expect(() => read({ kind: 'sale', sale: { kind: 'lent' }, of: 'a later version' })).toThrow('cannot read')
  })
})

describe('whole numbers of up to 20 digits', () => {
  it('are read without loss, and strings are not changed', () => {
    const text = '{"a":1234567890123456789,"b":12,"c":"x: 1234567890123456789, \\"","d":1.5}'
    expect(parseLossless(text)).toEqual({
      a: '1234567890123456789',
      b: 12,
      c: 'x: 1234567890123456789, "',
      d: 1.5,
    })
    expect(() => parseLossless('<html>')).toThrow(SyntaxError)
  })

  it('are not confused with the decimals of a fraction', () => {
    expect(parseLossless('{"money":0.30000000000000004}')).toEqual({ money: 0.1 + 0.2 })
  })

  it('are written bare, and every other value is refused', () => {
    expect(bareNumber('1234567890123456789')).toBe('1234567890123456789')
    for (const wrong of ['', '1e9', '-1', '1.5', '01', '1}', '9'.repeat(21)])
      expect(() => bareNumber(wrong)).toThrow(RangeError)
  })
})

describe('the pace', () => {
  function createPaced() {
    let nowMs = 0
    const time = {
      now: () => nowMs,
      pause: async (ms: number) => {
        // Fires early, as some timers do.
        nowMs += Math.max(1, Math.floor(ms / 2))
      },
    }
    return { pace: createPace(500, time), now: () => nowMs, advanceMs: (ms: number) => (nowMs += ms) }
  }

  it('keeps the minimum time between two calls, even after a long pause', async () => {
    const { pace, now, advanceMs } = createPaced()
    const times: number[] = []
    for (const idleMs of [0, 0, 60_000, 0, 0, 0]) {
      advanceMs(idleMs)
      expect(await pace.turn()).toBe(true)
      times.push(now())
    }
    const gaps = times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0))
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(500)
  })

  it('refuses a call if twenty already wait', async () => {
    const { pace } = createPaced()
    // One call is made at once, twenty wait, and four are refused.
    const turns = await Promise.all(Array.from({ length: 25 }, () => pace.turn()))
    expect(turns.filter((isGranted) => !isGranted)).toHaveLength(4)
  })
})

describe('the redirect to the sandbox', () => {
  it('is refused in live mode, and for anything but a plain address of this machine', () => {
    expect(() => sandboxConnection('live', 'http://127.0.0.1:4303')).toThrow('refused in live mode')
    for (const url of [
      'http://10.0.0.1:4303',
      'https://127.0.0.1',
      'http://u@127.0.0.1',
      'http://127.0.0.1/x',
      'x',
    ])
      expect(() => sandboxConnection('sandbox', url)).toThrow('must be on this machine')
    for (const connection of [sandboxConnection('sandbox', 'http://localhost:4303'), liveConnection()])
      expect(connection.ask).toBeTypeOf('function')
  })
})

describe('a sale in the history of the market.csgo.com family', () => {
  const [soldS, settlesS] = [1_800_000_000, 1_800_600_000]
  const read = (data: readonly object[]) => {
    const scale = scaleOf('USD')
    if (scale === undefined) throw new Error('dollars have no scale')
    return outcomesOf(historySchema.parse({ data }), scale, new Date(soldS * 1_000))
  }
  const readEnd = (stage: string, settlement: number, received: string | null = '950') =>
    read([{ item_id: '5', event: 'sell', time: String(soldS), stage, settlement, received }])[0]?.end.kind

  it('is read if it is among the newest 20,000, in any order of the market’s rows', () => {
    const rows = Array.from({ length: 20_001 }, (_, id) => {
      return { item_id: String(id), event: 'sell', time: String(soldS - id), stage: '2', received: '950' }
    })
    for (const sent of [rows, rows.toReversed()])
      expect(new Set(read(sent).map(({ itemId }) => Number(itemId)))).toEqual(new Set(Array(20_000).keys()))
  })

  it.each([
    ['new', '1', 0, '950', 'pending'],
    ['new, with its money held', '1', settlesS, '950', 'settling'],
    ['new, with its money unknown', '1', settlesS, '0', 'pending'],
    ['given, with its money held', '2', settlesS, '950', 'settling'],
    ['given', '2', 0, '950', 'paid'],
    ['still new when its money is due', '1', soldS, '950', 'pending'],
    ['given without an amount', '2', 0, null, 'pending'],
    ['timed out', '5', 0, '0', 'cancelled'],
  ])('that is %s (%s, %i, %s) is %s', (_what, stage, settlement, received, kind) => {
    expect(readEnd(stage, settlement, received)).toBe(kind)
  })
})

describe('a sale in the history of Waxpeer', () => {
  const row: HistoryRow = {
    item_id: '5',
    give_amount: 950n,
    game: 'dota2',
    status: 0,
    action: 'sell',
    created: new Date(0),
  }

  // Each sale but a cancelled one gives a row: a listing without a row counts as gone, so its item could be listed again.
  it.each([
    ['made', 0, 'unknown'],
    ['being prepared', 1, 'unknown'],
    ['sent', 4, 'offer_out'],
    ['accepted', 5, 'given'],
    ['cancelled', 6, undefined],
    ['of an unknown status', 99, 'unknown'],
  ])('that is %s (%i) has the stage %s', (_what, status, stage) => {
    expect(rowUnderWay({ ...row, status })?.stage).toBe(stage)
  })
})
