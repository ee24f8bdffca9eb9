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
import { BOT, openStand, STORAGE, type Stand, THIEF } from './testing/stand.ts'

/** The payer of the deposit. */
const PAYER = THIEF
const STRANGER = STORAGE

let stand: Stand
let settings: Settings

beforeAll(async () => {
  stand = await openStand()
  stand.enrol(BOT)
  settings = readSettings({
    TRADETILL_MODE: 'live',
    TRADETILL_VAULT: stand.path,
    TRADETILL_VAULT_DATABASE_URL: stand.asVault.options.connectionString,
  })
})
beforeEach(() => {
  stand.restart()
  stand.rules()
  // Two days later, the limits that an earlier test used up have room again.
  stand.pass(2 * DAY_S * 1_000)
})
afterAll(() => stand.close())

const offers = () =>
  stand.steam.world().offers.filter(({ sender }) => sender === stand.accountOf(BOT).steamId)
const linkOf = (who: string) => stand.steam.as(who).tradeUrl()

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
  const { steamId: partner, token } = stand.accountOf(PAYER)
  const { steamId: sender } = stand.accountOf(BOT)
  const items = stand.steam.as(PAYER).tradable(570).slice(0, 2)
  const intent = { sender, partner, token, message: 'K7MXPQ', items }
  const sent = stand.steam.change((world, nowS) => sendOffer(world, intent, nowS))
  if (sent.kind !== 'sent') throw new Error(JSON.stringify(sent))
  stand.steam.as(PAYER).accept(sent.offerId)
  const steamTradeId = offers().find(({ id }) => id === sent.offerId)?.tradeId ?? ''
  const trade = stand.steam.world().trades.find(({ id }) => id === steamTradeId)
  const assets = trade?.items.map(({ newAssetId }) => newAssetId ?? '') ?? []
  expect(assets).toHaveLength(2)
  const of = { kind: 'return', depositId: await stand.deposit(), steamTradeId } as const
  return { wish: await stand.wish([...assets, ...extra], of), assets }
}

describe('the items of a deposit', () => {
  it('go back to their sender once a person at the vault has approved', async () => {
    const { wish, assets } = await wishBack()
    await stand.rounds(2)
    expect(await stand.deed(wish)).toEqual({ state: 'waiting', because: 'not approved' })
    const { terminal, printed } = person('yes')
    await approve(settings, terminal, { wishId: wish, link: linkOf(PAYER) })
    expect(printed).toContain(`  570/${assets[0]}`)
    const payer = stand.steam.as(PAYER)
    const before = payer.items().length
    await stand.rounds(2)
    expect(offers().at(-1)).toMatchObject({ partner: payer.steamId, state: 2, items: [] })
    stand.acceptAll(PAYER)
    await stand.rounds(2)
    expect(await stand.deed(wish)).toMatchObject({ state: 'delivered' })
    expect([stand.countOwned(BOT, assets), payer.items().length]).toEqual([0, before + 2])
  })

  it.each([
    ['to somebody else', STRANGER, false, 'somebody else sent the items'],
    ['with an item from another source', PAYER, true, 'Steam does not say who sent the items'],
  ])('do not go back %s, even with an approval', async (_, to, isMixed, because) => {
    const { wish, assets } = await wishBack(isMixed ? stand.stock(BOT, 1) : [])
    const before = offers().length
    await approve(settings, person('yes').terminal, { wishId: wish, link: linkOf(to) })
    await stand.rounds(3)
    expect(await stand.deed(wish)).toMatchObject({ because })
    expect([offers().length, stand.countOwned(BOT, assets)]).toEqual([before, 2])
  })

  it('do not go back if the database adds an item after the approval', async () => {
    const { wish, assets } = await wishBack()
    await approve(settings, person('yes').terminal, { wishId: wish, link: linkOf(PAYER) })
    const [more] = stand.stock(BOT, 1)
    await stand.asGateway.query(
      `insert into wish_item (wish_id, app_id, context_id, asset_id) values ($1, 570, '2', $2)`,
      [wish, more],
    )
    await stand.rounds(2)
    expect(await stand.deed(wish)).toEqual({ state: 'refused', because: 'other items than were approved' })
    expect(stand.countOwned(BOT, assets)).toBe(2)
  })

  it('are approved only by a yes, with a complete link, and for a wish to give back', async () => {
    const { wish } = await wishBack()
    const send = await stand.wish(stand.stock(BOT, 1))
    const ask = (answer: string, wishId: string, link = linkOf(PAYER)) =>
      approve(settings, person(answer).terminal, { wishId, link })
    await expect(ask('y', wish)).rejects.toThrow('Nothing was approved.')
    await expect(ask('yes', wish, 'https://steamcommunity.com/id/x')).rejects.toThrow('must be a trade link')
    await expect(ask('yes', send)).rejects.toThrow(`no open wish ${send} to give items back`)
    await stand.rounds(1)
    expect(await stand.deed(wish)).toEqual({ state: 'waiting', because: 'not approved' })
  })
})

/** The vault without its latest entries, as if it died after the act and before recording it. */
function killBeforeWriting(lastKind: string): void {
  stand.restart()
  const file = join(stand.path, 'log.jsonl')
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
      const assets = stand.stock(BOT, 2)
      const wish = await stand.wish(assets.slice(0, 1))
      await stand.rounds(1)
      if (kind !== 'offer_known') await stand.rounds(1)
      if (kind === 'delivered') {
        stand.acceptAll(STORAGE)
        await stand.rounds(1)
      }
      killBeforeWriting(kind)
      await stand.rounds(4)
      stand.acceptAll(STORAGE)
      await stand.rounds(2)
      expect(await stand.deed(wish)).toMatchObject({ state: 'delivered' })
      const made = offers().filter(({ message }) => message.startsWith(`vault w${wish} `))
      expect([made.length, stand.countOwned(BOT, assets)]).toEqual([1, 1])
    },
  )

  it('before it reports to the till does so at the next start', async () => {
    const wish = await stand.wish(stand.stock(BOT, 1))
    await stand.rounds(2)
    stand.acceptAll(STORAGE)
    await stand.rounds(1)
    await stand.asVault.query(`update vault_deed set state = 'offered' where wish_id = $1`, [wish])
    stand.restart()
    await stand.rounds(1)
    expect(await stand.deed(wish)).toMatchObject({ state: 'delivered' })
  })
})

describe('the commands', () => {
  it('change destinations and limits with effect from the next start', async () => {
    const { terminal, printed } = person('')
    await stand.rounds(1)
    allow(settings, terminal, { name: 'shelf', link: linkOf(PAYER) })
    limits(settings, terminal, { usdAnHour: '500.00', usdADay: '900.05', itemsAnHour: 3 })
    const wish = await stand.wish(stand.stock(BOT, 1), { destination: 'shelf' })
    await stand.rounds(1)
    expect(await stand.deed(wish)).toEqual({ state: 'refused', because: 'no such destination' })
    stand.restart()
    const later = await stand.wish(stand.stock(BOT, 1), { destination: 'shelf' })
    await stand.rounds(2)
    expect(await stand.deed(later)).toMatchObject({ state: 'offered' })
    showRules(settings, terminal)
    expect(printed).toEqual(
      expect.arrayContaining([
        `to shelf\t${stand.accountOf(PAYER).steamId}`,
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
    const wish = await stand.wish(stand.stock(BOT, 1))
    await stand.rounds(1)
    const { terminal, printed } = person('')
    showLog(settings, terminal, { limit: 3 })
    expect(printed.slice(0, 3).map((line) => JSON.parse(line.split('\t')[2] ?? '').kind)).toEqual([
      'intended',
      'send_begun',
      'offer_known',
    ])
    expect(printed[0]).toContain(`"wish":"${wish}"`)
    expect(printed.join('\n')).not.toMatch(/sealed|token/)
    expect(printed.at(-1)).toMatch(/^\d+ entries, all exactly as the vault wrote them\.$/)
  })
})
