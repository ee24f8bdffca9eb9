import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { startSteam } from '../../steam-sandbox/start.ts'
import { runCommand, spawnCommand } from '../testing/command.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'

const botSchema = z.object({
  name: z.string(),
  steamId: z.string(),
  refreshToken: z.string(),
  accountName: z.string(),
  password: z.string(),
  sharedSecret: z.string(),
})

let database: TestDatabase
let sandbox: Awaited<ReturnType<typeof startSteam>>
let bots: z.infer<typeof botSchema>[]

beforeEach(async () => {
  database = await testDatabase()
  sandbox = await startSteam({ port: 0 })
  bots = z.array(botSchema).parse(await (await fetch(`${sandbox.url}/control/bots`)).json())
})
afterEach(async () => {
  await sandbox.close()
  await database.close()
})

const options = (input: string) => ({
  databaseUrl: database.url,
  env: { TRADETILL_STEAM_SANDBOX_URL: sandbox.url.replace('localhost', '127.0.0.1') },
  input,
})
const run = (args: string[], input = '') => runCommand(args, options(input))

const firstBot = () => {
  const [bot] = bots
  if (!bot) throw new Error('the sandbox has no bot')
  return bot
}

const botState = async () => (await database.pool.query('select state from bot')).rows[0]?.state

/** The commands that list rows and need no argument. */
const LISTS = [
  'acts',
  'bot list',
  'deposit list',
  'items departures',
  'items drift',
  'items export',
  'items list',
  'items wishes',
  'market list',
  'operator list',
  'payout list',
  'price list',
  'proposal list',
  'shopper list',
  'store list',
  'trade list',
  'webhook list',
]

it('every list command prints a line for an empty list; bot list prints it on stderr, where scripts do not count it as a bot', async () => {
  for (const list of LISTS) {
    const { out, errors, code } = await run(list.split(' '))
    expect({ list, code, isSilent: out + errors === '' }).toEqual({ list, code: 0, isSilent: false })
    expect(await run([...list.split(' '), '--json'])).toMatchObject({ code: 0, errors: '' })
  }
  expect(await run(['bot', 'list'])).toMatchObject({
    out: '',
    errors: expect.stringMatching(/^No bots\. Enrol one: .+ bot enrol --phone\n$/),
  })
})

describe('bot', () => {
  it('enrol asks for account name, password and secret, and keeps neither password nor secret', async () => {
    const { name, steamId, accountName, password, sharedSecret } = firstBot()
    // Runs as a process, because its stdin must be a pipe, as from a password manager.
    const enrolled = await spawnCommand(
      ['bot', 'enrol'],
      options(`${accountName}\n${password}\n${sharedSecret}\n`),
    )
    expect(enrolled).toMatchObject({ code: 0 })
    expect(enrolled.out).toContain(`${name} (${steamId}), token good until 20`)
    const stored = await database.pool.query('select bot::text as row, refresh_token from bot')
    const storedText = stored.rows[0].row + stored.rows[0].refresh_token.toString('latin1')
    for (const secret of [password, sharedSecret]) {
      expect(storedText + enrolled.out + enrolled.errors).not.toContain(secret)
    }
    expect((await run(['bot', 'list'])).out).toMatch(
      /^1\tactive\toffline \(no gateway holds it\)\tlevel \d+\t0 items\ttoken until 20/,
    )
  })

  it('list says why a bot with a refused token is offline, until it may log in again', async () => {
    await run(['bot', 'add'], `${firstBot().refreshToken}\n`)
    const reason = 'token_dead: the next login is at noon'
    const allowLoginIn = (hours: number) =>
      database.pool.query(
        'update bot set state_reason = $1, login_after = till_now() + make_interval(hours => $2)',
        [reason, hours],
      )
    await allowLoginIn(1)
    expect((await run(['bot', 'list'])).out).toContain(`\toffline (${reason})\t`)
    await allowLoginIn(-1)
    expect((await run(['bot', 'list'])).out).toContain('\toffline (no gateway holds it)\t')
  })

  it('list says that a bot is logging in if a gateway holds the bot and nothing has failed', async () => {
    await run(['bot', 'add'], `${firstBot().refreshToken}\n`)
    await database.pool.query("update bot set lease_until = now() + interval '1 hour'")
    expect((await run(['bot', 'list'])).out).toContain('\toffline (logging in)\t')
  })

  it('list says that a retired bot has no token, and that a token without an expiry time does not expire', async () => {
    await run(['bot', 'add'], `${firstBot().refreshToken}\n`)
    await database.pool.query('update bot set token_expires_at = null')
    expect((await run(['bot', 'list'])).out).toContain('\ttoken does not expire\t')
    await run(['bot', 'retire', '1', '--reason', 'banned by Steam'])
    expect((await run(['bot', 'list'])).out).toMatch(/\tretired\toffline\t.*\tno token\t/)
  })

  it('list says why a bot is barred, for which game and until when', async () => {
    await run(['bot', 'add'], `${firstBot().refreshToken}\n`)
    const until = '2099-05-01T12:00:00.000Z'
    const bar = (scope: string, reason: string) =>
      database.pool.query(
        `insert into bot_bar (bot_id, scope, reason, barred_at, until, times)
         values (1, $1, $2, till_now(), $3, 1)`,
        [scope, reason, until],
      )
    await bar('all', 'bot_cannot_trade')
    await bar('tf', 'inventory_full')
    const { out } = await run(['bot', 'list'])
    expect(out).toContain(`\tno new trades until ${until}: bot_cannot_trade`)
    expect(out).toContain(`\tno new trades of tf until ${until}: inventory_full`)
    const bars = JSON.parse((await run(['bot', 'list', '--json'])).out).bots[0].bars
    expect(bars).toEqual([
      { scope: 'all', reason: 'bot_cannot_trade', until, times: 1 },
      { scope: 'tf', reason: 'inventory_full', until, times: 1 },
    ])
  })

  it('add and enrol record each bot that was added, but not its token', async () => {
    const { steamId, accountName, password, sharedSecret, refreshToken } = firstBot()
    const otherToken = bots[1]?.refreshToken ?? ''
    const nonsense = 'eyJhbGciOiJub25lIn0.bm90aGluZw.bm90aGluZw'
    const added = await run(['bot', 'add', '--by', 'Ada'], `${refreshToken}\n${nonsense}\n${otherToken}\n`)
    expect(added).toMatchObject({ code: 4, errors: expect.stringMatching(/^1 not added\. Check the token/) })
    expect(added.out).toMatch(
      /^Bot 1 added: .*\nBot 2 added: .*\nLine 2: The bot was not added: the text is not/,
    )
    await run(['bot', 'enrol'], `${accountName}\n${password}\n${sharedSecret}\n`)
    const { rows } = await database.pool.query(
      'select act, operator, arguments from operator_act order by id',
    )
    expect(rows).toMatchObject([
      { act: 'bot add', operator: 'Ada', arguments: { botId: '1', steamId } },
      { act: 'bot add', operator: 'Ada', arguments: { botId: '2' } },
      { act: 'bot enrol', arguments: { botId: '1', steamId } },
    ])
    for (const secret of [refreshToken, otherToken, nonsense, password, sharedSecret]) {
      expect(JSON.stringify(rows) + added.out + added.errors).not.toContain(secret)
    }
  })

  it('add gives the line number of a refused token, counting blank lines', async () => {
    const { out } = await run(['bot', 'add'], '\nnonsense\n\nnonsense\n')
    expect(out).toMatch(/^Line 2: .*\nLine 4: /)
  })

  it('enrol says that Steam refused the password, and refuses a stdin that ends early', async () => {
    const { accountName } = firstBot()
    const wrongPassword = await run(['bot', 'enrol'], `${accountName}\nnot it\n`)
    expect(wrongPassword).toMatchObject({ code: 4 })
    expect(wrongPassword.errors).toContain('does not know this account name with this password')
    const shortInput = await run(['bot', 'enrol'], `${accountName}\n`)
    expect(shortInput).toMatchObject({ code: 2 })
    expect(shortInput.errors).toContain('The input ended before the last answer')
  })

  it('enrol says that Steam’s answers about the bot’s offers were empty, and adds the bot', async () => {
    const { accountName, password, sharedSecret } = firstBot()
    sandbox.begin('offers-not-there')
    const enrolled = await run(['bot', 'enrol'], `${accountName}\n${password}\n${sharedSecret}\n`)
    expect(enrolled).toMatchObject({
      code: 0,
      out: expect.stringContaining('answers about its offers were empty'),
    })
    expect(await botState()).toBe('active')
  })

  it('add of several bots says for each one that Steam’s answers about its offers were empty', async () => {
    const tokens = bots.map(({ refreshToken }) => refreshToken)
    sandbox.begin('offers-not-there')
    const { out } = await run(['bot', 'add'], tokens.join('\n'))
    expect(tokens.length).toBeGreaterThan(1)
    expect(out.match(/answers about its offers were empty/g)).toHaveLength(tokens.length)
  })

  it('add asks Steam, with another account’s trade link, whether it would hold the bot’s trades', async () => {
    const { steamId, refreshToken } = firstBot()
    const link = sandbox.as('nova_hound').tradeUrl()
    const bars = async () => (await database.pool.query('select bot_id, scope, reason from bot_bar')).rows
    const add = (...more: string[]) => run(['bot', 'add', ...more], `${refreshToken}\n`)

    expect((await add()).out).toContain('Whether Steam would hold its trades was not checked')
    // The link must belong to another account.
    expect((await add('--check-with', sandbox.as('Tradetill Bot #1').tradeUrl())).out).toContain(
      'not checked',
    )
    expect(await add('--check-with', link)).toMatchObject({
      code: 0,
      out: expect.not.stringContaining('hold'),
    })
    expect(await bars()).toEqual([])

    sandbox.begin('hold-15-days', { steamId })
    expect((await add('--check-with', link)).out).toContain(
      'It gets no trades yet: Steam would hold them for 15 days',
    )
    expect(await bars()).toEqual([{ bot_id: 1n, scope: 'all', reason: 'own_hold' }])
    expect((await run(['bot', 'list'])).out).toContain('own_hold')
  })

  it('add and enrol refuse a bot if the trade link of --check-with is invalid', async () => {
    const { refreshToken, accountName, password, sharedSecret } = firstBot()
    const stale = sandbox.as('magic_new_token').tradeUrl()
    const refused = await run(['bot', 'add', '--check-with', stale], `${refreshToken}\n`)
    expect(refused.out).toContain('Steam refused the trade link of --check-with')
    const typed = `${accountName}\n${password}\n${sharedSecret}\n`
    const enrolled = await run(['bot', 'enrol', '--check-with', stale], typed)
    expect(enrolled.errors).toContain('Steam refused the trade link of --check-with')
    const nonsense = await run(['bot', 'add', '--check-with', 'https://example.test/'], `${refreshToken}\n`)
    expect(nonsense).toMatchObject({ code: 2, errors: expect.stringContaining('must be a trade link') })
    expect(await botState()).toBeUndefined()
  })

  it('pause, resume and remove change a bot, by its number or Steam id, and resume also ends its bars', async () => {
    const { steamId, refreshToken } = firstBot()
    expect(await run(['bot', 'add'], `${refreshToken}\n`)).toMatchObject({ code: 0 })
    expect((await run(['bot', 'pause', '1'])).out).toContain('takes no new trades')
    expect(await botState()).toBe('paused')
    expect((await run(['bot', 'resume', steamId])).out).toContain('collects again')
    // A bar that still runs, although the account is in order again.
    await database.pool.query(`insert into bot_bar (bot_id, scope, reason, barred_at, until, times)
      values (1, 'all', 'bot_cannot_trade', till_now(), till_now() + interval '12 hours', 6)`)
    expect((await run(['bot', 'list'])).out).toContain('no new trades until')
    expect((await run(['bot', 'resume', '1'])).out).toContain('collects again')
    expect((await run(['bot', 'list'])).out).not.toContain('no new trades until')
    // The next bar is as long as if this one had run its full time.
    const { rows: bars } = await database.pool.query('select times from bot_bar')
    expect(bars).toEqual([{ times: 6 }])
    expect((await run(['bot', 'resume', '1'])).out).toContain('was active already')
    expect((await run(['bot', 'remove', '1', '--reason', 'sold'])).code).toBe(0)
    expect(await botState()).toBe('removed')
    const afterRemoval = await run(['bot', 'resume', '1'])
    expect(afterRemoval).toMatchObject({ code: 3, errors: expect.stringContaining('There is no such bot') })
  })
})

describe('items', () => {
  it('export has a header, and moved refuses each line that names no held item', async () => {
    expect((await run(['items', 'export'])).out).toBe(
      'item,bot,botSteamId,appId,assetId,marketHashName,price,currency,receivedAt,protectedUntil\n',
    )
    const result = await run(['items', 'moved', '--reason', 'sold'], 'item,bot\n7-12,x\nnonsense\n')
    expect(result).toEqual({
      code: 4,
      out: '7-12 is not held by a bot\nnonsense is not an item of the export\n0 recorded as moved.\n',
      errors: '2 not recorded.\n',
    })
  })
})
