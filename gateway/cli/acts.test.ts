/** Every act of the operator is recorded once, in the transaction of its change. A refused act is not recorded. */
import { userInfo } from 'node:os'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ACTS_TESTED_ELSEWHERE } from '../testing/acts-elsewhere.ts'
import { runCommand } from '../testing/command.ts'
import { aBot, aDeparture, aDeposit, aStore, startTill, type Till } from '../testing/till.ts'
import { allCommands } from './app.ts'

let till: Till

beforeEach(async () => {
  till = await startTill()
})
afterEach(() => till.close())

const run = (args: readonly string[], input = '') => runCommand(args, { databaseUrl: till.url, input })

const actSchema = z.strictObject({
  actId: z.string(),
  at: z.iso.datetime(),
  operator: z.string(),
  act: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  reason: z.string().nullable(),
})
const pageSchema = z.strictObject({ acts: z.array(actSchema), next: z.string().nullable() })
async function acts(...filter: string[]) {
  const { out } = await run(['acts', '--json', ...filter])
  return pageSchema.parse(JSON.parse(out))
}

const ADD = ['store', 'add', '--name', 'Ember', '--origin', 'https://store.test']

async function addStore(): Promise<{ storeId: string; apiKey: string }> {
  const { out } = await run([...ADD, '--json'])
  return z.object({ storeId: z.string(), apiKey: z.string() }).parse(JSON.parse(out))
}

/** Returns the eight characters after `tt_test_`. */
const keyIdOf = (apiKey: string): string => apiKey.slice(8, 16)

/** Books an available balance for the store directly. */
async function addBalance(storeId: string, amount: bigint): Promise<void> {
  await till.db
    .insertInto('account')
    .values({ store_id: BigInt(storeId), kind: 'available', currency: 'USD', balance: amount, floor: 0n })
    .execute()
}

async function readTables(): Promise<unknown> {
  const tables = [
    ...'store api_key webhook_address webhook_endpoint bot price_hold market_off'.split(' '),
    ...'halt epoch outage operator_act denied_shopper deposit departure account'.split(' '),
    ...'payout ledger_entry custody_entry till_identity'.split(' '),
  ]
  const read = async (table: string) =>
    (await sql<{ row: string }>`select row::text from ${sql.table(table)} as row order by 1`.execute(till.db))
      .rows
  return Promise.all(tables.map(read))
}

/** Takes the id of the next act's record, so its insert fails. Later inserts succeed. */
async function takeNextActId(): Promise<void> {
  await sql`
    insert into operator_act (id, at, operator, act, arguments)
    overriding system value
    select coalesce(max(id), 0) + 1, now(), 'Nobody', 'another', '{}' from operator_act`.execute(till.db)
}

const PAYOUT = ['payout', 'record', '--currency', 'USD', '--reference', 'wire 1', '--reason', 'November']
const ITEM = ['--game', 'cs', '--item', 'Knife']
const ALLOW = ['store', 'allow-address', '--store']
/** An end within the 30 days that maintenance may last. */
const SOON = new Date(Date.now() + 3_600_000).toISOString()

/** `prepare` makes what the act needs, and returns the arguments for it. `arguments`: those that are recorded. */
type Case = { act: string; arguments: object; prepare?: () => Promise<string[]>; args: string[] }

const CASES: Case[] = [
  {
    act: 'maintenance on',
    args: ['--text', 'We are moving.', '--text-ru', 'Мы переезжаем.', '--until', SOON],
    arguments: { text: { en: 'We are moving.', ru: 'Мы переезжаем.' }, until: SOON },
  },
  { act: 'market off', args: ['market.csgo.com'], arguments: { market: 'market.csgo.com' } },
  {
    act: 'market on',
    prepare: async () => (await run(['market', 'off', 'market.csgo.com'])) && ['market.csgo.com'],
    args: [],
    arguments: { market: 'market.csgo.com' },
  },
  { act: 'bot disarm', args: [], arguments: {} },
  { act: 'bot arm', prepare: async () => (await run(['bot', 'disarm'])) && [], args: [], arguments: {} },
  {
    act: 'restore finish',
    args: ['--unnoticed', '--reason', 'a snapshot'],
    arguments: { epoch: 1, stores: 0, unnoticed: true },
  },
  {
    act: 'restore recount',
    prepare: async () => {
      const { bot } = await aBot(till)
      await till.db.updateTable('bot').set({ items_held: 7 }).where('id', '=', bot.botId).execute()
      return []
    },
    args: [],
    arguments: { bots: 1, stores: 0 },
  },
  {
    act: 'key-ring rotate',
    prepare: async () => {
      await addStore()
      await sql`update till_identity set old_fingerprints = array[key_fingerprint]`.execute(till.db)
      return []
    },
    args: [],
    arguments: { resealed: 0, left: 0, unreadable: 0 },
  },
  {
    act: 'maintenance off',
    prepare: async () => (await run(['maintenance', 'on'])) && [],
    args: [],
    arguments: {},
  },
  {
    act: 'items explain',
    prepare: async () => [String(await aDeparture(till.db, (await aBot(till)).bot.botId))],
    args: ['--reason', 'I sent them myself'],
    arguments: {
      departureId: '1',
      bot: 'Tradetill Bot',
      steamTradeId: '6100000000000000007',
      partnerSteamId: '76561198000009002',
    },
  },
  { act: 'price block', args: ITEM, arguments: { game: 'cs', item: 'Knife' } },
  { act: 'price freeze', args: ['--game', 'rust', '--all'], arguments: { game: 'rust', item: null } },
  {
    act: 'price release',
    prepare: async () => (await run(['price', 'block', ...ITEM])) && [],
    args: ITEM,
    arguments: { game: 'cs', item: 'Knife' },
  },
  {
    act: 'shopper deny',
    args: ['76561198000000077', '--reason', 'pays with stolen items'],
    arguments: { steamId: '76561198000000077' },
  },
  {
    act: 'shopper allow',
    prepare: async () => {
      await run(['shopper', 'deny', '76561198000000077', '--reason', 'a mistake'])
      return ['76561198000000077']
    },
    args: [],
    arguments: { steamId: '76561198000000077' },
  },
  {
    act: 'shopper erase',
    prepare: async () => {
      const { id } = await aDeposit(till, await aStore(till))
      await till.db.updateTable('deposit').set({ status: 'paymentTimeout' }).where('id', '=', id).execute()
      return [`7656119800000${id}`]
    },
    args: ['--reason', 'asked for by mail'],
    arguments: { deposits: 1, trades: 0, reads: 0, keptDeposits: 0 },
  },
  {
    act: 'store add',
    args: [...ADD.slice(2), '--webhook-url', 'http://localhost:1/hook?key=5ecret', '--risk-limit-usd', '10'],
    arguments: {
      storeId: '1',
      name: 'Ember',
      origins: ['https://store.test'],
      webhookUrl: 'http://localhost:1/hook',
      riskLimit: { amountMinor: 1_000, currency: 'USD' },
      creditMode: 'on_accept',
      liability: 'operator',
    },
  },
  {
    act: 'store update',
    prepare: async () => ['--store', (await addStore()).storeId],
    args: ['--accent', '#3366cc'],
    arguments: { storeId: '1', accent: '#3366cc' },
  },
  {
    act: 'store allow-address',
    prepare: async () => ['--store', (await addStore()).storeId],
    args: ['--address', 'Shop.example:8443'],
    arguments: { storeId: '1', address: 'shop.example:8443', inside: false },
  },
  {
    act: 'store forbid-address',
    prepare: async () => {
      const { storeId } = await addStore()
      await run([...ALLOW, storeId, '--address', 'localhost:8080'])
      return ['--store', storeId]
    },
    args: ['--address', 'localhost:8080'],
    arguments: { storeId: '1', address: 'localhost:8080' },
  },
  {
    act: 'key add',
    prepare: async () => ['--store', (await addStore()).storeId],
    args: ['--name', 'reader', '--scope', 'deposits:read'],
    arguments: { keyId: expect.any(String), storeId: '1', name: 'reader', scopes: ['deposits:read'] },
  },
  {
    act: 'key rotate',
    prepare: async () => [keyIdOf((await addStore()).apiKey)],
    args: ['--overlap-hours', '2'],
    arguments: { keyId: expect.any(String), replaced: expect.any(String), overlapHours: 2 },
  },
  {
    act: 'key revoke',
    prepare: async () => [keyIdOf((await addStore()).apiKey)],
    args: ['--reason', 'found in a repository'],
    arguments: { keyId: expect.any(String) },
  },
  {
    act: 'payout record',
    prepare: async () => {
      const { storeId } = await addStore()
      await addBalance(storeId, 2_500n)
      return ['--store', storeId]
    },
    args: [...PAYOUT.slice(2), '--amount', '25.00'],
    arguments: { storeId: '1', amountMinor: 2_500, currency: 'USD', reference: 'wire 1' },
  },
  {
    act: 'bot pause',
    prepare: async () => [String((await aBot(till)).bot.botId)],
    args: [],
    arguments: { botId: '1', name: 'Tradetill Bot' },
  },
  {
    act: 'bot resume',
    prepare: async () => {
      const bot = String((await aBot(till)).bot.botId)
      await run(['bot', 'pause', bot])
      return [bot]
    },
    args: [],
    arguments: { botId: '1', name: 'Tradetill Bot' },
  },
  {
    act: 'bot retire',
    prepare: async () => [String((await aBot(till)).bot.botId)],
    args: ['--reason', 'banned by Steam'],
    arguments: { botId: '1', name: 'Tradetill Bot' },
  },
  {
    act: 'bot remove',
    prepare: async () => [String((await aBot(till)).bot.botId)],
    args: ['--reason', 'account sold'],
    arguments: { botId: '1', name: 'Tradetill Bot' },
  },
]

describe('an act', () => {
  it.each(CASES)(
    '$act is recorded once, with who, what and why',
    async ({ act, args, prepare, ...expected }) => {
      const prepared = (await prepare?.()) ?? []
      const before = (await acts()).acts.length
      const answer = await run([...act.split(' '), ...prepared, ...args, '--by', 'Ada'])
      expect(answer).toMatchObject({ code: 0, errors: '' })
      const { acts: after } = await acts()
      expect(after.length).toBe(before + 1)
      const reason = args.includes('--reason') ? args[args.indexOf('--reason') + 1] : null
      expect(after[0]).toMatchObject({ act, operator: 'Ada', reason, arguments: expected.arguments })
      expect(Object.keys(after[0]?.arguments ?? {}).sort()).toEqual(Object.keys(expected.arguments).sort())
    },
  )

  it.each(CASES)('$act is rolled back if its record cannot be written', async ({ act, args, prepare }) => {
    const prepared = (await prepare?.()) ?? []
    await acts() // The first command on a new database claims it.
    await takeNextActId()
    const before = await readTables()
    const failed = await run([...act.split(' '), ...prepared, ...args, '--by', 'Nobody'])
    expect(failed).toMatchObject({ code: 1, errors: expect.stringContaining('operator_act') })
    expect(await readTables()).toEqual(before)
    expect(await run([...act.split(' '), ...prepared, ...args, '--by', 'Ada'])).toMatchObject({ code: 0 })
    expect(await readTables()).not.toEqual(before)
  })

  it('of any command has a case above or a test elsewhere', () => {
    const actCommands = allCommands().filter(({ command }) => 'reason' in (command.parameters.flags ?? {}))
    expect([...CASES.map(({ act }) => act), ...ACTS_TESTED_ELSEWHERE].sort()).toEqual(
      actCommands.map(({ name }) => name).sort(),
    )
  })

  it.each([
    ['on an unknown bot', ['bot', 'pause', '9'], 3],
    ['without the reason that it needs', ['bot', 'remove', '1'], 2],
    ['with an empty reason', ['maintenance', 'on', '--reason', ' '], 2],
    ['with a reason of two lines', ['maintenance', 'on', '--reason', 'a\nb'], 2],
    ['without an operator', ['maintenance', 'on', '--by', ''], 2],
    ['on a price that is not blocked', ['price', 'release', ...ITEM], 4],
    ['on an account that is not denied', ['shopper', 'allow', '76561198000000077'], 0],
    ['on an invalid account', ['shopper', 'deny', '77', '--reason', 'x'], 2],
    ['for maintenance that is already off', ['maintenance', 'off'], 0],
    ['with a colour given by name', ['store', 'update', '--store', '1', '--accent', 'tomato'], 2],
    ['on an unknown store', ['store', 'update', '--store', '9', '--accent', 'none'], 3],
    ['with an address without a port', [...ALLOW, '1', '--address', 'shop.example'], 2],
    ['with a link-local address', [...ALLOW, '1', '--address', '169.254.169.254:80'], 2],
    ['for an address of an unknown store', [...ALLOW, '9', '--address', 'a.example:1'], 3],
    ['on an unlisted address', ['store', 'forbid-address', '--store', '1', '--address', 'a.example:1'], 3],
    ['for a payout above the balance', [...PAYOUT, '--store', '1', '--amount', '0.01'], 4],
  ])('%s is not recorded and changes nothing', async (_title, args, code) => {
    await addStore()
    await aBot(till)
    const before = await readTables()
    expect(await run(args)).toMatchObject({ code })
    expect(await readTables()).toEqual(before)
  })

  it('that is repeated, such as a payout with the same reference or a second pause, is recorded once', async () => {
    const { storeId } = await addStore()
    await addBalance(storeId, 2_500n)
    const bot = String((await aBot(till)).bot.botId)
    for (const isRepeated of [false, true]) {
      const { out } = await run([...PAYOUT, '--store', storeId, '--amount', '25.00'])
      expect(out).toMatch(isRepeated ? /was recorded before/ : /^(?!.*was recorded before).*recorded/s)
      expect(await run(['bot', 'pause', bot])).toMatchObject({ code: 0 })
    }
    expect((await acts()).acts.map(({ act }) => act)).toEqual(['bot pause', 'payout record', 'store add'])
  })
})

describe('a record', () => {
  it('contains no secret, even if the operator typed one in a reason or URL', async () => {
    const typed = ['tt_live_abcdefgh_secret', 'whsec_c2VjcmV0', 'eyJhbGciOiJFZERTQSJ9.c2VjcmV0.c2ln']
    const { apiKey } = await addStore()
    const url = `http://localhost:1/hook?token=s3cr3t`
    const update = ['store', 'update', '--store', '1', '--origin', 'https://store.test', '--webhook-url', url]
    const { out } = await run([...update, '--reason', typed.join(' '), '--json'])
    const { webhookSecret } = z.object({ webhookSecret: z.string() }).parse(JSON.parse(out))
    const { rows } = await sql<{ row: string }>`select operator_act::text as row from operator_act`.execute(
      till.db,
    )
    const printed = await run(['acts'])
    const texts = [...rows.map(({ row }) => row), printed.out].join('\n')
    expect(texts).toContain('store update')
    for (const secret of [...typed, apiKey, webhookSecret, 's3cr3t']) expect(texts).not.toContain(secret)
  })

  it('names the operator of TRADETILL_OPERATOR, or the user of this machine, if --by is missing', async () => {
    await run(['maintenance', 'on'])
    const env = { TRADETILL_OPERATOR: 'Grace' }
    await runCommand(['maintenance', 'off'], { databaseUrl: till.url, env })
    expect((await acts()).acts.map(({ operator }) => operator)).toEqual(['Grace', userInfo().username])
  })

  it.each([
    ['changed', sql`update operator_act set reason = 'another'`],
    ['deleted', sql`delete from operator_act`],
    ['truncated with its table', sql`truncate operator_act`],
  ])('cannot be %s', async (_title, statement) => {
    await run(['maintenance', 'on'])
    await expect(statement.execute(till.db)).rejects.toThrow('operator_act is append-only')
    expect((await acts()).acts.length).toBe(1)
  })
})

describe('the command acts', () => {
  it('lists acts newest first, page by page, filtered by act, operator or time', async () => {
    await run(['maintenance', 'on', '--by', 'Ada'])
    await run(['maintenance', 'off', '--by', 'Grace', '--reason', 'all is done'])
    await run(['maintenance', 'on', '--by', 'Grace'])
    const numbers = async (...filter: string[]) => (await acts(...filter)).acts.map(({ actId }) => actId)
    expect(await numbers()).toEqual(['3', '2', '1'])
    expect(await numbers('--act', 'maintenance on')).toEqual(['3', '1'])
    expect(await numbers('--by', 'Grace')).toEqual(['3', '2'])
    expect(await numbers('--since', '2999-01-01')).toEqual([])
    expect(await numbers('--since', '2000-01-01', '--limit', '2')).toEqual(['3', '2'])
    expect(await acts('--limit', '2')).toMatchObject({ next: '2' })
    expect(await acts('--limit', '2', '--before', '2')).toMatchObject({ acts: [{ actId: '1' }], next: null })
    const { out } = await run(['acts', '--by', 'Grace', '--limit', '1'])
    expect(out).toMatch(/^3\t\S+Z\tGrace\tmaintenance on\t\{\}\nMore follow: --before 3\n$/)
    expect((await run(['acts', '--act', 'maintenance off'])).out).toMatch(/\tall is done\n$/)
  })
})
