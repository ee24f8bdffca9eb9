import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sendOffer } from '../steam-sandbox/world/offers.ts'
import { DAY_S, STATE } from '../steam-sandbox/world/world.ts'
import { approve } from './commands/approve.ts'
import { showLog } from './commands/log.ts'
import { allow, limits, showRules } from './commands/rules.ts'
import { readSettings, type Settings } from './settings.ts'
import type { Terminal } from './terminal.ts'
import { BOT, openTestBench, STORAGE, type TestBench, THIEF } from './testing/test-bench.ts'

// The test bench has roles for other tests: here its thief pays honestly, and its storage is nobody's.
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
  bench.writeRules()
  // After two days, the gifts of earlier tests no longer count towards the limits.
  bench.advanceMs(2 * DAY_S * 1_000)
})
afterAll(() => bench.close())

const botOffers = () =>
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

/** Makes a wish to give the items of a deposit back to its payer, along with `extra` items from elsewhere. */
async function makeReturnWish(extra: readonly string[] = []) {
  const { steamId: partner, token } = bench.accountOf(PAYER)
  const { steamId: sender } = bench.accountOf(BOT)
  const items = bench.steam.as(PAYER).tradable(570).slice(0, 2)
  const intent = { sender, partner, token, message: 'K7MXPQ', items }
  const sent = bench.steam.change((world, nowS) => sendOffer(world, intent, nowS))
  if (sent.kind !== 'sent') throw new Error(JSON.stringify(sent))
  bench.steam.as(PAYER).accept(sent.offerId)
  const steamTradeId = botOffers().find(({ id }) => id === sent.offerId)?.tradeId ?? ''
  const trade = bench.steam.world().trades.find(({ id }) => id === steamTradeId)
  const assets = trade?.items.map(({ newAssetId }) => newAssetId ?? '') ?? []
  expect(assets).toHaveLength(2)
  const depositId = await bench.makeDeposit()
  const wish = await bench.makeWish([...assets, ...extra], { kind: 'return', depositId, steamTradeId })
  return { wish, assets }
}

describe('the items of a deposit', () => {
  it('go back to their sender once a person at the vault has approved', async () => {
    const { wish, assets } = await makeReturnWish()
    await bench.runRounds(2)
    expect(await bench.readDeed(wish)).toEqual({ state: 'waiting', because: 'not approved' })
    const { terminal, printed } = person('yes')
    await approve(settings, terminal, { wishId: wish, link: linkOf(PAYER) })
    expect(printed).toContain(`  570/${assets[0]}`)
    expect(printed.at(-1)).toContain('it asks Steam who sent them, and refuses the wish')
    const payer = bench.steam.as(PAYER)
    const itemsBefore = payer.items().length
    await bench.runRounds(2)
    expect(botOffers().at(-1)).toMatchObject({ partner: payer.steamId, state: STATE.active, items: [] })
    bench.acceptAll(PAYER)
    await bench.runRounds(2)
    expect(await bench.readDeed(wish)).toMatchObject({ state: 'delivered' })
    expect([bench.countOwned(BOT, assets), payer.items().length]).toEqual([0, itemsBefore + 2])
  })

  it('go back even if Steam leaves the trades in the state "committed", as it may for a long time', async () => {
    const { wish, assets } = await makeReturnWish()
    bench.steam.begin('trade-committed')
    await approve(settings, person('yes').terminal, { wishId: wish, link: linkOf(PAYER) })
    await bench.runRounds(3)
    bench.acceptAll(PAYER)
    await bench.runRounds(2)
    bench.steam.end('trade-committed')
    expect(await bench.readDeed(wish)).toMatchObject({ state: 'delivered' })
    expect(bench.countOwned(BOT, assets)).toBe(0)
  })

  it('wait while the approval of their wish cannot be read, and do not hold up other wishes', async () => {
    const { wish: broken } = await makeReturnWish()
    const file = join(bench.path, `approval-${broken}`)
    writeFileSync(file, 'sealed by another key', { mode: 0o600 })
    const otherWish = await bench.makeWish(bench.addStock(BOT, 1))
    const runFailingRound = () => expect(bench.runRounds(1)).rejects.toThrow()
    await runFailingRound()
    await runFailingRound()
    expect(await bench.readDeed(otherWish)).toMatchObject({ state: 'offered' })
    bench.acceptAll(STORAGE)
    await runFailingRound()
    expect(await bench.readDeed(otherWish)).toMatchObject({ state: 'delivered' })
    // The operator learns of it.
    expect(await bench.readNeeds()).toContainEqual({ kind: 'rounds_failing', about: 'listings and wishes' })
    rmSync(file)
    await bench.runRounds(1)
    expect(await bench.readDeed(broken)).toEqual({ state: 'waiting', because: 'not approved' })
    await bench.withdraw(broken)
  })

  it('can be approved even if more wishes wait than the vault reads at a time', async () => {
    for (let count = 0; count < 50; count += 1) await bench.makeWish([])
    const { wish, assets } = await makeReturnWish()
    const { terminal, printed } = person('yes')
    await approve(settings, terminal, { wishId: wish, link: linkOf(PAYER) })
    expect(printed).toContain(`  570/${assets[0]}`)
    await bench.asGateway.query('update wish set closed_at = till_now() where closed_at is null')
  })

  it.each(['99999', '0', '12345678901234567890', 'x'])(
    'cannot be approved for a wish %s that does not exist',
    async (wishId) => {
      const approval = approve(settings, person('yes').terminal, { wishId, link: linkOf(PAYER) })
      await expect(approval).rejects.toThrow(`There is no open wish ${wishId} to give items back.`)
    },
  )

  it.each([
    ['to somebody who did not send them', STRANGER, false, 'somebody else sent the items'],
    ['with an item from another source', PAYER, true, 'Steam does not say who sent the items'],
  ])('do not go back %s, even with an approval', async (_, to, isMixed, because) => {
    const { wish, assets } = await makeReturnWish(isMixed ? bench.addStock(BOT, 1) : [])
    const offersBefore = botOffers().length
    await approve(settings, person('yes').terminal, { wishId: wish, link: linkOf(to) })
    await bench.runRounds(3)
    expect(await bench.readDeed(wish)).toMatchObject({ because })
    expect([botOffers().length, bench.countOwned(BOT, assets)]).toEqual([offersBefore, 2])
  })

  it('do not go back if an item is added to the wish after the approval', async () => {
    const { wish, assets } = await makeReturnWish()
    await approve(settings, person('yes').terminal, { wishId: wish, link: linkOf(PAYER) })
    const [more] = bench.addStock(BOT, 1)
    await bench.asGateway.query(
      `insert into wish_item (wish_id, app_id, context_id, asset_id) values ($1, 570, '2', $2)`,
      [wish, more],
    )
    await bench.runRounds(2)
    expect(await bench.readDeed(wish)).toEqual({
      state: 'refused',
      because: 'other items than were approved',
    })
    expect(bench.countOwned(BOT, assets)).toBe(2)
  })

  it('are not approved without the answer yes, a trade link, and a wish to give items back', async () => {
    const { wish } = await makeReturnWish()
    const wishToSend = await bench.makeWish(bench.addStock(BOT, 1))
    const approveWith = (text: string, wishId: string, link = linkOf(PAYER)) =>
      approve(settings, person(text).terminal, { wishId, link })
    await expect(approveWith('y', wish)).rejects.toThrow('Nothing was approved.')
    await expect(approveWith('yes', wish, 'https://steamcommunity.com/id/x')).rejects.toThrow(
      'must be a trade link',
    )
    await expect(approveWith('yes', wishToSend)).rejects.toThrow(
      `no open wish ${wishToSend} to give items back`,
    )
    await bench.runRounds(1)
    expect(await bench.readDeed(wish)).toEqual({ state: 'waiting', because: 'not approved' })
  })
})

/** Stops the vault and removes the last entry of its log, as if it had died after a step and before recording it. */
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
    'before it writes "%s" gives the items once, and reports the gift after a restart',
    async (kind) => {
      const assets = bench.addStock(BOT, 2)
      const wish = await bench.makeWish(assets.slice(0, 1))
      await bench.runRounds(1)
      if (kind !== 'offer_known') await bench.runRounds(1)
      if (kind === 'delivered') {
        bench.acceptAll(STORAGE)
        await bench.runRounds(1)
      }
      killBeforeWriting(kind)
      await bench.runRounds(4)
      bench.acceptAll(STORAGE)
      await bench.runRounds(2)
      expect(await bench.readDeed(wish)).toMatchObject({ state: 'delivered' })
      const madeOffers = botOffers().filter(({ message }) => message.startsWith(`vault w${wish} `))
      expect([madeOffers.length, bench.countOwned(BOT, assets)]).toEqual([1, 1])
    },
  )

  it('before it reports a result to the till does so after the next start', async () => {
    const wish = await bench.makeWish(bench.addStock(BOT, 1))
    await bench.runRounds(2)
    bench.acceptAll(STORAGE)
    await bench.runRounds(1)
    // The till's database as it was before the vault reported the delivery.
    await bench.asVault.query(`update vault_deed set state = 'offered' where wish_id = $1`, [wish])
    bench.restart()
    await bench.runRounds(1)
    expect(await bench.readDeed(wish)).toMatchObject({ state: 'delivered' })
  })
})

describe('the commands', () => {
  it('change destinations and limits, and a new destination takes effect at the next start', async () => {
    const { terminal, printed } = person('')
    await bench.runRounds(1)
    allow(settings, terminal, { name: 'shelf', link: linkOf(PAYER) })
    limits(settings, terminal, { usdAnHour: '500.00', usdADay: '900.05', itemsAnHour: 3 })
    const wish = await bench.makeWish(bench.addStock(BOT, 1), { destination: 'shelf' })
    await bench.runRounds(1)
    expect(await bench.readDeed(wish)).toEqual({ state: 'refused', because: 'no such destination' })
    bench.restart()
    const later = await bench.makeWish(bench.addStock(BOT, 1), { destination: 'shelf' })
    await bench.runRounds(2)
    expect(await bench.readDeed(later)).toMatchObject({ state: 'offered' })
    showRules(settings, terminal)
    expect(printed).toEqual(
      expect.arrayContaining([
        `to shelf\t${bench.accountOf(PAYER).steamId}`,
        'at most 500.00 USD an hour, 900.05 USD a day',
        'at most 3 items an hour',
      ]),
    )
  })

  it('refuse a destination without a trade link, and a limit without cents', () => {
    const { terminal } = person('')
    expect(() => allow(settings, terminal, { name: 'shelf', link: 'nowhere' })).toThrow(
      'must be a trade link',
    )
    const flags = { usdAnHour: '5', usdADay: '900.05', itemsAnHour: 3 }
    expect(() => limits(settings, terminal, flags)).toThrow('dollars and cents')
  })

  it('show the log without its sealed secrets while the vault runs', async () => {
    const wish = await bench.makeWish(bench.addStock(BOT, 1))
    await bench.runRounds(1)
    const { terminal, printed } = person('')
    showLog(settings, terminal, { limit: 3 })
    expect(printed.slice(0, 3).map((line) => JSON.parse(line.split('\t')[2] ?? '').kind)).toEqual([
      'intended',
      'send_begun',
      'offer_known',
    ])
    expect(printed[0]).toContain(`"wish":"${wish}"`)
    expect(printed.join('\n')).not.toMatch(/sealed|token/)
    expect(printed.at(-1)).toMatch(
      /^Entries: \d+, all exactly as the vault wrote them\. Lost last entries do not show\.$/,
    )
  })
})
