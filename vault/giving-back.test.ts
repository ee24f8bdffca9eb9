/** The return of items with an approval at the vault, the vault's commands, and a vault killed between two entries. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sendOffer } from '../steam-sandbox/world/offers.ts'
import { DAY_S } from '../steam-sandbox/world/world.ts'
import { approve } from './commands/approve.ts'
import { showLog } from './commands/log.ts'
import { allow, limits, showRules } from './commands/rules.ts'
import { readSettings, type Settings } from './settings.ts'
import type { Terminal } from './terminal.ts'
import { BOT, openTestBench, STORAGE, type TestBench, THIEF } from './testing/test-bench.ts'

/** The payer of the deposit. */
const PAYER = THIEF
const STRANGER = STORAGE

let bench: TestBench
let settings: Settings

beforeAll(async () => {
  bench = await openTestBench()
  bench.enrol(BOT)
  settings = readSettings({
    TRADETILL_MODE: 'live',
    TRADETILL_VAULT: bench.path,
    TRADETILL_VAULT_DATABASE_URL: bench.asVault.options.connectionString,
  })
})
beforeEach(() => {
  bench.restart()
  bench.rules()
  // Two days later, the limits that an earlier test used up have room again.
  bench.pass(2 * DAY_S * 1_000)
})
afterAll(() => bench.close())

const offers = () =>
  bench.steam.world().offers.filter(({ sender }) => sender === bench.accountOf(BOT).steamId)
const linkOf = (who: string) => bench.steam.as(who).tradeUrl()

/** A person at the vault who gives this answer to every question. */
function person(answer: string) {
  const printed: string[] = []
  const terminal: Terminal = {
    isPerson: true,
    print: (line) => void printed.push(line),
    ask: async () => answer,
    lines: async () => [],
  }
  return { terminal, printed }
}

/** A wish to give back the items of a deposit to their payer. `extra`: items that came from elsewhere. */
async function wishBack(extra: readonly string[] = []) {
  const { steamId: partner, token } = bench.accountOf(PAYER)
  const { steamId: sender } = bench.accountOf(BOT)
  const items = bench.steam.as(PAYER).tradable(570).slice(0, 2)
  const intent = { sender, partner, token, message: 'K7MXPQ', items }
  const sent = bench.steam.change((world, nowS) => sendOffer(world, intent, nowS))
  if (sent.kind !== 'sent') throw new Error(JSON.stringify(sent))
  bench.steam.as(PAYER).accept(sent.offerId)
  const steamTradeId = offers().find(({ id }) => id === sent.offerId)?.tradeId ?? ''
  const trade = bench.steam.world().trades.find(({ id }) => id === steamTradeId)
  const assets = trade?.items.map(({ newAssetId }) => newAssetId ?? '') ?? []
  expect(assets).toHaveLength(2)
  const of = { kind: 'return', depositId: await bench.deposit(), steamTradeId } as const
  return { wish: await bench.wish([...assets, ...extra], of), assets }
}

describe('the items of a deposit', () => {
  it('go back to their sender once a person at the vault has approved', async () => {
    const { wish, assets } = await wishBack()
    await bench.rounds(2)
    expect(await bench.deed(wish)).toEqual({ state: 'waiting', because: 'not approved' })
    const { terminal, printed } = person('yes')
    await approve(settings, terminal, { wishId: wish, link: linkOf(PAYER) })
    expect(printed).toContain(`  570/${assets[0]}`)
    const payer = bench.steam.as(PAYER)
    const before = payer.items().length
    await bench.rounds(2)
    expect(offers().at(-1)).toMatchObject({ partner: payer.steamId, state: 2, items: [] })
    bench.acceptAll(PAYER)
    await bench.rounds(2)
    expect(await bench.deed(wish)).toMatchObject({ state: 'delivered' })
    expect([bench.countOwned(BOT, assets), payer.items().length]).toEqual([0, before + 2])
  })

  it.each([
    ['to somebody else', STRANGER, false, 'somebody else sent the items'],
    ['with an item from another source', PAYER, true, 'Steam does not say who sent the items'],
  ])('do not go back %s, even with an approval', async (_, to, isMixed, because) => {
    const { wish, assets } = await wishBack(isMixed ? bench.stock(BOT, 1) : [])
    const before = offers().length
    await approve(settings, person('yes').terminal, { wishId: wish, link: linkOf(to) })
    await bench.rounds(3)
    expect(await bench.deed(wish)).toMatchObject({ because })
    expect([offers().length, bench.countOwned(BOT, assets)]).toEqual([before, 2])
  })

  it('do not go back if the database adds an item after the approval', async () => {
    const { wish, assets } = await wishBack()
    await approve(settings, person('yes').terminal, { wishId: wish, link: linkOf(PAYER) })
    const [more] = bench.stock(BOT, 1)
    await bench.asGateway.query(
      `insert into wish_item (wish_id, app_id, context_id, asset_id) values ($1, 570, '2', $2)`,
      [wish, more],
    )
    await bench.rounds(2)
    expect(await bench.deed(wish)).toEqual({ state: 'refused', because: 'other items than were approved' })
    expect(bench.countOwned(BOT, assets)).toBe(2)
  })

  it('are approved only by a yes, with a complete link, and for a wish to give back', async () => {
    const { wish } = await wishBack()
    const send = await bench.wish(bench.stock(BOT, 1))
    const ask = (answer: string, wishId: string, link = linkOf(PAYER)) =>
      approve(settings, person(answer).terminal, { wishId, link })
    await expect(ask('y', wish)).rejects.toThrow('Nothing was approved.')
    await expect(ask('yes', wish, 'https://steamcommunity.com/id/x')).rejects.toThrow('must be a trade link')
    await expect(ask('yes', send)).rejects.toThrow(`no open wish ${send} to give items back`)
    await bench.rounds(1)
    expect(await bench.deed(wish)).toEqual({ state: 'waiting', because: 'not approved' })
  })
})

/** The vault without its latest entries, as if it died after the act and before recording it. */
function killBeforeWriting(lastKind: string): void {
  bench.restart()
  const file = join(bench.path, 'log.jsonl')
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
  const entry = JSON.parse(lines.at(-1) ?? '')
  expect(entry).toMatchObject({ entry: { kind: lastKind } })
  writeFileSync(
    file,
    lines
      .slice(0, -1)
      .map((line) => `${line}\n`)
      .join(''),
  )
}

describe('a vault that is killed', () => {
  it.each(['offer_known', 'confirmed', 'delivered'])(
    'before it wrote "%s" gives the items once, and reports it after a restart',
    async (kind) => {
      const assets = bench.stock(BOT, 2)
      const wish = await bench.wish(assets.slice(0, 1))
      await bench.rounds(1)
      if (kind !== 'offer_known') await bench.rounds(1)
      if (kind === 'delivered') {
        bench.acceptAll(STORAGE)
        await bench.rounds(1)
      }
      killBeforeWriting(kind)
      await bench.rounds(4)
      bench.acceptAll(STORAGE)
      await bench.rounds(2)
      expect(await bench.deed(wish)).toMatchObject({ state: 'delivered' })
      const made = offers().filter(({ message }) => message.startsWith(`vault w${wish} `))
      expect([made.length, bench.countOwned(BOT, assets)]).toEqual([1, 1])
    },
  )

  it('before it reports to the till does so at the next start', async () => {
    const wish = await bench.wish(bench.stock(BOT, 1))
    await bench.rounds(2)
    bench.acceptAll(STORAGE)
    await bench.rounds(1)
    await bench.asVault.query(`update vault_deed set state = 'offered' where wish_id = $1`, [wish])
    bench.restart()
    await bench.rounds(1)
    expect(await bench.deed(wish)).toMatchObject({ state: 'delivered' })
  })
})

describe('the commands', () => {
  it('change destinations and limits with effect from the next start', async () => {
    const { terminal, printed } = person('')
    await bench.rounds(1)
    allow(settings, terminal, { name: 'shelf', link: linkOf(PAYER) })
    limits(settings, terminal, { usdAnHour: '500.00', usdADay: '900.05', itemsAnHour: 3 })
    const wish = await bench.wish(bench.stock(BOT, 1), { destination: 'shelf' })
    await bench.rounds(1)
    expect(await bench.deed(wish)).toEqual({ state: 'refused', because: 'no such destination' })
    bench.restart()
    const later = await bench.wish(bench.stock(BOT, 1), { destination: 'shelf' })
    await bench.rounds(2)
    expect(await bench.deed(later)).toMatchObject({ state: 'offered' })
    showRules(settings, terminal)
    expect(printed).toEqual(
      expect.arrayContaining([
        `to shelf\t${bench.accountOf(PAYER).steamId}`,
        'at most 500.00 USD an hour, 900.05 USD a day',
        'at most 3 items an hour',
      ]),
    )
  })

  it('refuse a destination without a trade link, and a limit that is not an amount', () => {
    const { terminal } = person('')
    expect(() => allow(settings, terminal, { name: 'shelf', link: 'nowhere' })).toThrow(
      'must be a trade link',
    )
    const flags = { usdAnHour: '5', usdADay: '900.05', itemsAnHour: 3 }
    expect(() => limits(settings, terminal, flags)).toThrow('dollars and cents')
  })

  it('show the log while the vault runs, without its sealed secrets', async () => {
    const wish = await bench.wish(bench.stock(BOT, 1))
    await bench.rounds(1)
    const { terminal, printed } = person('')
    showLog(settings, terminal, { limit: 3 })
    expect(printed.slice(0, 3).map((line) => JSON.parse(line.split('\t')[2] ?? '').kind)).toEqual([
      'intended',
      'send_begun',
      'offer_known',
    ])
    expect(printed[0]).toContain(`"wish":"${wish}"`)
    expect(printed.join('\n')).not.toMatch(/sealed|token/)
    expect(printed.at(-1)).toMatch(/^Entries: \d+, all exactly as the vault wrote them\.$/)
  })
})
