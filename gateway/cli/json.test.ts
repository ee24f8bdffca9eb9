/** The fields that each command prints with `--json`. docs/commands.md lists them, and programs rely on them. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { startSteam } from '../../steam-sandbox/start.ts'
import type { BotContext } from '../bots/bot.ts'
import { createCallCounts } from '../bots/call-counts.ts'
import { saveCalls } from '../bots/call-store.ts'
import { startStandInTill } from '../conformance/stand-in-till.ts'
import { publishEvents } from '../events/service.ts'
import { savePrices, saveRate } from '../pricing/store.ts'
import { putOnRelease } from '../shoppers/on-release-store.ts'
import { UNOBSERVED } from '../steam/turns.ts'
import { runCommand } from '../testing/command.ts'
import { SHAPES } from '../testing/command-shapes.ts'
import { fakePrograms } from '../testing/fake-programs.ts'
import { freePort } from '../testing/free-port.ts'
import { offerFor } from '../testing/payment.ts'
import { approveLogin } from '../testing/phone.ts'
import { startStoreHandler } from '../testing/store-handler.ts'
import { aBot, aDeparture, aDeposit, aVaultNeed, startTill, type Till } from '../testing/till.ts'
import { SECRET, sendDue, senderDeps } from '../testing/webhooks.ts'
import { tradeHandlers } from '../trades/advance.ts'
import { saveVitals } from '../vitals/store.ts'
import { allCommands } from './app.ts'

let till: Till
let folder: string
let sandbox: Awaited<ReturnType<typeof startSteam>>
/** The last answer under each name, in the order in which the names were first used. */
const answers = new Map<string, unknown>()

const botSchema = z.object({
  steamId: z.string(),
  refreshToken: z.string(),
  accountName: z.string(),
  password: z.string(),
  sharedSecret: z.string(),
})

type PrintOptions = {
  input?: string
  /** Name under which the answer is kept; the first two words of the command by default. */
  name?: string
  exitCode?: number
  onStderr?: (text: string) => void
  /** True if the command gets no DATABASE_URL. */
  isEmbedded?: boolean
  extraEnv?: Record<string, string>
}

async function print(
  line: string[],
  {
    name = line.slice(0, 2).join(' '),
    exitCode = 0,
    isEmbedded = false,
    extraEnv = {},
    ...options
  }: PrintOptions = {},
) {
  const env = {
    TRADETILL_STEAM_SANDBOX_URL: sandbox.url.replace('localhost', '127.0.0.1'),
    TRADETILL_POSTGRES_PROGRAMS: folder,
    TRADETILL_CONSOLE_PORT: '4304',
    TRADETILL_DATA: join(folder, 'data'),
    ...extraEnv,
  }
  const { out, errors, code } = await runCommand([...line, '--json'], {
    ...(isEmbedded ? {} : { databaseUrl: till.url }),
    env,
    ...options,
  })
  // Questions are written to stderr too.
  const complaint = code === exitCode ? '' : errors
  expect({ line, complaint, code }).toEqual({ line, complaint: '', code: exitCode })
  expect(out.trimEnd()).not.toContain('\n')
  const value = z.record(z.string(), z.unknown()).parse(JSON.parse(out))
  answers.set(name, value)
  return value
}

/** Pays a deposit with two items of 10 and 20 USD, which Steam does not protect. */
async function paidDeposit(storeId: bigint): Promise<{ id: bigint; bot: BotContext }> {
  const { bot, session } = await aBot(till)
  const deposit = await aDeposit(till, { id: storeId }, { game: 'dota' })
  const { tradeId, offerId } = await offerFor(till, bot, deposit)
  session.accept(offerId)
  await tradeHandlers(till.deps).trade(bot, tradeId)
  return { id: deposit.id, bot }
}

/** Runs the commands for trades, shoppers and single deposits, as if no bot could ask Steam about its trades. */
async function printTradesAndShoppers(storeId: bigint, bot: BotContext): Promise<void> {
  const deposit = await aDeposit(till, { id: storeId }, { game: 'cs' })
  const { tradeId } = await offerFor(till, bot, deposit)
  await print(['trade', 'list'])
  const shopper = `7656119800000${deposit.id}`
  await print(['deposit', 'show', String(deposit.id)])
  await print(['trade', 'look', String(tradeId)])
  const waitingDeposit = await aDeposit(till, { id: storeId }, { game: 'cs' })
  await print(['deposit', 'hold', String(waitingDeposit.id), '--reason', 'a new shopper'])
  await print(['shopper', 'deny', shopper, '--reason', 'stolen items'])
  await putOnRelease(till.db, { steamId: shopper, tradeId, at: new Date() })
  await print(['shopper', 'show', shopper])
  await print(['shopper', 'list'])
  await print(['shopper', 'allow', shopper])
  await print(['shopper', 'trust', shopper, '--reason', 'the account was stolen'])
  await print(['shopper', 'erase', shopper, '--reason', 'asked for by mail'])
  const trade = String(tradeId)
  await print(['trade', 'end', trade, '--reason', 'banned'])
  await print(['trade', 'credit', trade, '--steam-trade', '6100000000000000001', '--reason', 'seen'])
  const tenDaysAgo = new Date(Date.now() - 10 * 86_400_000)
  await till.db.updateTable('trade').set({ settles_at: tenDaysAgo }).where('id', '=', tradeId).execute()
  await print(['trade', 'release', trade, '--reason', 'nothing was taken back'])
  await print(['shopper', 'show', shopper])
  const nextOffer = await offerFor(till, bot, await aDeposit(till, { id: storeId }, { game: 'cs' }))
  const reversedId = String(nextOffer.tradeId)
  await print(['trade', 'credit', reversedId, '--steam-trade', '6100000000000000002', '--reason', 'seen'])
  await print(['trade', 'reverse', reversedId, '--reason', 'the items went back'])
  const heldId = String((await offerFor(till, bot, waitingDeposit)).tradeId)
  await print(['trade', 'credit', heldId, '--steam-trade', '6100000000000000003', '--reason', 'seen'])
  await print(['store', 'update', '--store', '1', '--risk-limit-usd', '100'])
  await print(['deposit', 'release', String(waitingDeposit.id), '--reason', 'a shopper for many years'])
}

/** Prints operators and proposals. With a limit of zero, every payout becomes a proposal. */
async function printOperators(): Promise<void> {
  await print(['operator', 'add', 'Nina', '--role', 'support'])
  await print(['operator', 'link', 'Nina'])
  await print(['operator', 'list'])
  await print(['proposal', 'limit', '0', '--reason', 'two of us'])
  const env = { TRADETILL_DATA: join(folder, 'data') }
  for (const wire of ['wire 2', 'wire 3']) {
    const payout = ['--store', '1', '--currency', 'USD', '--amount', '1.00', '--reference', wire]
    const args = ['payout', 'record', ...payout, '--reason', 'December']
    expect(await runCommand(args, { databaseUrl: till.url, env })).toMatchObject({ code: 6, out: '' })
  }
  await print(['proposal', 'list'])
  const nina = till.db.selectFrom('operator').select('id').where('name', '=', 'Nina')
  await till.db.updateTable('proposal').set({ backed_by: nina }).where('id', '=', 2n).execute()
  await print(['operator', 'remove', 'Nina', '--reason', 'left'])
  await print(['proposal', 'decline', '1', '--reason', 'too early'])
}

/** Records an outage, a call to Steam, and a shopper's page, and prints the figures of the day. */
async function printToday(): Promise<void> {
  await till.db.insertInto('outage').values({ kind: 'inventories', since: new Date() }).execute()
  const counts = createCallCounts(UNOBSERVED)
  counts.request('profile', { outcome: 'answered', seconds: 0.2 })
  await saveCalls(till.db, counts.take())
  const vital = { screen: 'deposit', device: 'phone', metric: 'LCP', bucket: 40, pages: 1 } as const
  await saveVitals(till.db, [vital])
  await print(['overview'], { name: 'overview' })
  await print(['money'], { name: 'money' })
  await print(['weather', '--method', 'profile'], { name: 'weather' })
  await till.db.deleteFrom('outage').execute()
}

/** Prints the books of store 1, after a payout of 25.00. */
async function printBooks(): Promise<void> {
  const adjustment = (amount: string, reference: string) =>
    ['1', '--currency', 'USD', '--amount', amount, '--reference', reference].concat('--reason', 'case 7')
  await print(['store', 'credit', ...adjustment('1.00', 'a')])
  await print(['store', 'debit', ...adjustment('16.00', 'b'), '--may-owe'])
  await print(['store', 'write-off', ...adjustment('10.00', 'c')])
  await print(['payout', 'list'])
  await print(['payout', 'void', '1', '--reason', 'the bank sent it back'])
  await print(['store', 'statement', '1', '--currency', 'USD'])
  const period = ['--from', dayFromNow(-30), '--to', dayFromNow(1), '--by', 'month']
  await print(['store', 'report', '1', ...period])
  await print(['report', 'money', ...period])
  await printWebhooks()
  await print(['store', 'list'])
  await print(['store', 'disable', '1', '--reason', 'its contract ended'])
  await print(['store', 'enable', '1'])
}

/** Sends to endpoint 1, which does not answer, and prints its webhooks. */
async function printWebhooks(): Promise<void> {
  await publishEvents(till.deps)
  await sendDue(senderDeps(till), 1n)
  await print(['webhook', 'list'])
  await print(['webhook', 'attempts', '1', '--limit', '1'])
  await print(['webhook', 'replay', '1', '--from', '1', '--to', '1'])
  await print(['webhook', 'rotate', '1', '--reason', 'found in a repository'])
}

const dayFromNow = (days: number): string =>
  new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

/** Runs every command at least once. */
async function printAll(): Promise<void> {
  const origin = ['--origin', 'https://store.test']
  const hook = ['--webhook-url', 'http://localhost:1/hook']
  const { apiKey } = await print(['store', 'add', '--name', 'Ember', ...origin, ...hook])
  await print(['store', 'update', '--store', '1', '--accent', '#3366cc', '--game', 'cs', '--game', 'dota'])
  const { keyId } = await print(['key', 'add', '--store', '1', '--name', 'reader'])
  await print(['key', 'list', '--store', '1'])
  await print(['key', 'rotate', String(keyId)])
  await print(['key', 'revoke', String(apiKey).slice(8, 16), '--reason', 'lost'])
  await print(['key-ring', 'status'])
  await print(['key-ring', 'rotate'])
  const { id: deposit, bot } = await paidDeposit(1n)
  await print(['deposit', 'list'])
  await print(['find', '1'], { name: 'find' })
  await printToday()
  const payout = ['--store', '1', '--currency', 'USD', '--amount', '25.00', '--reference', 'wire 1']
  await print(['payout', 'record', ...payout, '--reason', 'November'])
  await print(['store', 'show', '1'])
  await printBooks()
  const shop = ['--store', '1', '--address', 'shop.example:8443']
  await print(['store', 'allow-address', ...shop])
  await print(['store', 'forbid-address', ...shop])
  await print(['store', 'free-room', '--store', '1', '--reason', 'barred'])
  const { items } = z
    .object({ items: z.array(z.object({ item: z.string() })) })
    .parse(await print(['items', 'export']))
  await print(['items', 'list', '--limit', '1'])
  await print(['items', 'show', String(items[0]?.item)])
  await print(['items', 'send', '--to', 'storage', '--all-free'])
  await print(['items', 'wishes'])
  await print(['items', 'unwish', '1'])
  await print(['items', 'return', String(deposit), '--reason', 'paid twice'])
  await print(['items', 'rule', '--keep', '500', '--to', 'storage'])
  await print(['items', 'moved', '--reason', 'sold'], { input: `${items[0]?.item},rest of the line\n` })
  await print(['items', 'unmoved', '--reason', 'wrong'], { input: `${items[0]?.item}\n` })
  const line = `${items[1]?.item},skinport.com,1,30.00,26.00,USD,2026-11-02`
  await print(['items', 'sold', '--reason', 'sold'], { input: `${line}\n` })
  await aDeparture(till.db, bot.botId)
  await print(['items', 'departures', '--unexplained'])
  await print(['items', 'explain', '1', '--reason', 'I sent them myself'])
  await print(['items', 'drift', '--bot', String(bot.botId), '--now'])
  await printTradesAndShoppers(1n, bot)
  const knife = ['--game', 'cs', '--item', 'Knife']
  await print(['price', 'block', '--game', 'rust', '--all'])
  await print(['price', 'freeze', ...knife])
  await print(['price', 'show', ...knife])
  await print(['price', 'coverage', '--game', 'cs'])
  const rubies = '--game cs --usd 850.00 --reason rubies --item'.split(' ')
  await print(['price', 'override', ...rubies, '* Doppler *'])
  await print(['price', 'list'])
  await print(['price', 'release', ...knife])
  const sandboxBots = await (await fetch(`${sandbox.url}/control/bots`)).json()
  const [first, second] = z.array(botSchema).parse(sandboxBots)
  if (first === undefined || second === undefined) throw new Error('the sandbox has too few bots')
  const { accountName, password, sharedSecret } = first
  await print(['bot', 'enrol'], { input: `${accountName}\n${password}\n${sharedSecret}\n` })
  await print(['bot', 'add'], { input: `${second.refreshToken}\n` })
  await print(['bot', 'renew', second.steamId], {
    onStderr: (text) => approveLogin(sandbox.url, text, second.steamId),
  })
  for (const act of ['pause', 'resume']) await print(['bot', act, '2'])
  await print(['bot', 'retire', '2', '--reason', 'banned'])
  await print(['bot', 'remove', '3', '--reason', 'sold'])
  await print(['bot', 'list'])
  await print(['bot', 'show', '1'])
  const notice = ['--text', 'We are moving.', '--text-ru', 'Мы переезжаем.']
  await print(['maintenance', 'on', '--for', '45m', ...notice])
  await print(['maintenance', 'off'])
  await print(['clock', 'advance', '8d'])
  for (const act of ['status', 'run']) await print(['migrate', act])
  const backup = await print(['backup', 'create', '--to', join(folder, 'backups')])
  await print(['backup', 'check', String(backup.path)])
  mkdirSync(join(folder, 'copy', 'cluster'), { recursive: true })
  await print(['backup', 'restore', join(folder, 'copy')], { isEmbedded: true })
  for (const act of ['disarm', 'arm']) await print(['bot', act])
  await print(['restore', 'status'])
  await print(['restore', 'finish', '--unnoticed', '--reason', 'a snapshot'])
  // A wrong count, which the recount corrects.
  await till.db.updateTable('bot').set({ items_held: 9 }).where('id', '=', 1n).execute()
  await print(['restore', 'recount'])
  await print(['ledger', 'verify'])
  await print(['market', 'off', 'market.csgo.com'])
  await aVaultNeed(till.db)
  await print(['market', 'list'])
  await print(['market', 'on', 'market.csgo.com'])
  await print(['report', 'sales', '--from', '2026-11-01', '--to', '2026-12-01'])
  await printOperators()
  await print(['acts'], { name: 'acts' })
  const handler = await startStoreHandler()
  await print(
    ['verify', handler.url, '--balance', handler.balanceUrl, '--secret', SECRET, '--only', 'credit'],
    { name: 'verify' },
  )
  await handler.close()
  await print(['trigger', '--store', '1', 'deposit.succeeded'], { name: 'trigger', exitCode: 4 })
  const port = await freePort()
  const listenedTill = await startStandInTill({
    port,
    openDeposit: () => expect.unreachable('nothing is opened'),
  })
  const tillUrl = `http://127.0.0.1:${port}`
  await print(['listen', '--till', tillUrl, '--key', 'tt_test_1', '--forward-to', tillUrl, '--once'], {
    name: 'listen',
  })
  await listenedTill.close()
  // The doctor always finds problems in a sandbox, because nothing in it is real.
  await print(['doctor'], { name: 'doctor', exitCode: 1 })
  await print(['webhook', 'remove', '1', '--reason', 'nobody at the store added it'])
  const newKey = { TRADETILL_MASTER_KEY: Buffer.alloc(32, 9).toString('base64') }
  await print(['key-ring', 'forget', '--reason', 'lost with its server'], { extraEnv: newKey })
  await print(['key-ring', 'forget', '--reason', 'found again'])
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tradetill-json-'))
  till = await startTill()
  const { rows } = await sql<{ major: number }>`
    select current_setting('server_version_num')::int / 10000 as major`.execute(till.db)
  fakePrograms(folder, rows[0]?.major ?? 0)
  sandbox = await startSteam({ port: 0 })
  await saveRate(till.db, 'fixed', { currency: 'USD', perUsd: '1', asOf: new Date() })
  const facts = { popularity: 60, popularityKind: 'sales30d' as const, asOf: new Date() }
  const row = { marketHashName: 'Knife', usdMicros: 20_000_000n, levelUsdMicros: 10_000_000n, ...facts }
  await savePrices(till.db, { source: 'market', game: 'cs' }, [row])
  await till.db
    .insertInto('price_feed')
    .values({ source: 'market', feed: 'cs', next_at: new Date(), failures: 2, last_error: 'status 500' })
    .execute()
  await printAll()
})
afterAll(async () => {
  await sandbox.close()
  await till.close()
  rmSync(folder, { recursive: true, force: true })
})

const names = allCommands().map(({ name }) => name)

describe('--json', () => {
  it.each(names)('of %s prints the documented fields', (name) => {
    expect(answers.get(name)).toEqual(SHAPES[name]?.parse(answers.get(name)))
    expect(answers.get(name)).toBeDefined()
  })

  it('prints at least one row in each list except those named here, so the test covers the rows’ fields', () => {
    const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0
    const empty = [...answers].flatMap(([name, value]) =>
      Object.entries(value ?? {}).flatMap(([field, list]) => (isEmpty(list) ? [`${name}: ${field}`] : [])),
    )
    expect(empty).toEqual([
      // The number searched for is a deposit's. The tests of the search find the other kinds.
      ...['shoppers', 'stores', 'bots', 'items', 'events', 'departures'].map((list) => `find: ${list}`),
      ...['moved', 'unmoved', 'sold'].map((verb) => `items ${verb}: refused`),
      'deposit show: needs',
      ...['shopper show: openTrades', 'price coverage: losses'],
      'bot add: refused',
      'bot renew: refused',
      // The bot has no bar, no open offer and no refusal.
      ...['bars', 'offers', 'refusals'].map((list) => `bot show: ${list}`),
      'migrate status: missing',
      'migrate run: applied',
      ...['backup check: missing', 'ledger verify: differences', 'market list: unlisted'],
    ])
  })

  it('prints amounts in minor units', () => {
    expect(answers.get('payout record')).toMatchObject({ amountMinor: 2_500, currency: 'USD' })
    expect(answers.get('store show')).toMatchObject({
      balances: [{ currency: 'USD', availableMinor: 500, heldMinor: 0, reversedMinor: 0 }],
    })
    // Deposits brought 30.00; 1.00 was credited, 16.00 debited and 10.00 written off; the payout was voided.
    expect(answers.get('store list')).toMatchObject({ stores: [{ balances: [{ availableMinor: 2_500 }] }] })
    expect(answers.get('items export')).toMatchObject({
      items: [{ priceMinor: 1_000 }, { priceMinor: 2_000 }],
    })
    // The price of 20 counts up to 30 % above its level of 10. A quarter of that is commission.
    expect(answers.get('price show')).toMatchObject({
      worthUsdMicros: 13_000_000,
      credit: { amountMinor: 975, currency: 'USD' },
      holds: [{ hold: 'frozen' }],
    })
  })

  it('of a refusal is one line on stderr, and nothing on stdout', async () => {
    const { out, errors, code } = await runCommand(['store', 'show', '9', '--json'], {
      databaseUrl: till.url,
    })
    expect({ out, code }).toEqual({ out: '', code: 3 })
    expect(JSON.parse(errors)).toEqual({ error: { kind: 'not_found', message: 'There is no store 9.' } })
  })

  it('of a batch prints what was done and what was refused', async () => {
    const args = ['items', 'moved', '--reason', 'sold', '--json']
    const { out, errors, code } = await runCommand(args, { databaseUrl: till.url, input: '7-12\n' })
    expect(JSON.parse(out)).toEqual({
      moved: [],
      refused: [{ item: '7-12', message: 'is not held by a bot' }],
    })
    expect({ code, error: JSON.parse(errors) }).toEqual({
      code: 4,
      error: { error: { kind: 'conflict', message: '1 not recorded.' } },
    })
  })
})
