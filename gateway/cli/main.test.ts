import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectionFileOf } from '../db/connection-file.ts'
import { MIGRATION_LOCK } from '../db/migrate.ts'
import { runCommand, spawnCommand } from '../testing/command.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { freePort } from '../testing/free-port.ts'
import { testPool } from '../testing/pool.ts'
import { allCommands } from './app.ts'

/** A script that runs several commands in one process; each argument is a command. */
const EACH_COMMAND_SCRIPT = '../testing/each-command.ts'
/** Nothing listens there, so only a command that needs no database succeeds. */
const NOWHERE = 'postgres://nobody@127.0.0.1:9/none'

let folder: string
let database: TestDatabase

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tradetill-cli-'))
  database = await testDatabase()
})
afterAll(async () => {
  await database.close()
  rmSync(folder, { recursive: true })
})

describe('help and mistakes in arguments', () => {
  it.each(['--help', '-h', 'help'])('%s prints every command and ends with code 0', async (word) => {
    const { out, errors, code } = await runCommand([word], { databaseUrl: NOWHERE })
    expect({ errors, code }).toEqual({ errors: '', code: 0 })
    const lines = out.split('\n').map((line) => line.trim().replace(/ {2,}/, ' '))
    expect(lines).toEqual(expect.arrayContaining(allCommands().map(({ name, does }) => `${name} ${does}`)))
  })

  it('--help, run as a process, ends with code 0 despite a wrong setting, and loads no code for the database or the server', async () => {
    const { out, errors, code, loaded } = await runAndRecord(['--help'], {
      env: { TRADETILL_MODE: 'nonsense' },
    })
    expect({ errors, code }).toEqual({ errors: '', code: 0 })
    expect(out).toContain('usage: npm run --silent tradetill -- COMMAND')
    expect([...loaded].sort()).toEqual(['@stricli/core', 'gateway/cli', 'gateway/kit', 'gateway/operations'])
  })

  it.each(['bot --help', 'help bot', 'bot'])('%s prints only the commands for bots', async (words) => {
    const { out, code } = await runCommand(words.split(' '), { databaseUrl: NOWHERE })
    expect(code).toBe(0)
    expect(out).toContain('tradetill bot remove')
    expect(out).not.toContain('store add')
  })

  it.each([
    [['bot', 'nonsense'], 'There is no command "nonsense": see --help.'],
    [['bto', 'list'], 'There is no command "bto": see --help. Did you mean `bot`?'],
    [['bot', 'list', '--jsn'], 'There is no option --jsn: see --help. Did you mean --json?'],
    [['bot', 'enrol', '--phone=hunter2'], '--phone takes no value.'],
    [['bot', 'pause'], 'BOT is required.'],
    [['bot', 'pause', '1', '2'], 'Too many arguments: this command takes at most 1. See --help.'],
    [['store', 'update', '2', '--name', 'x'], 'This command takes only options: see --help.'],
    [['store', 'show', 'x'], 'STORE must be a number.'],
    [
      ['key', 'rotate', 'abcdefgh', '--overlap-hours', '1.5'],
      '--overlap-hours must be a whole number up to 9999.',
    ],
    [['deposit', 'list', '--limit', '0'], '--limit must be a whole number from 1 to 500.'],
    [['items', 'wishes', '--limit', '0'], '--limit must be a whole number from 1 to 200.'],
    [['key', 'rotate', 'abcdefgh', '--overlap-hours'], '--overlap-hours is required, with a value.'],
    [['price', 'show', '--game', 'chess', '--item', 'x'], '--game must be one of cs, dota, rust, tf.'],
    [['price', 'block', '--game', 'cs'], 'Give either --item NAME, or --all for the whole game.'],
    [
      ['deposit', 'list', '--currency', 'USD', '--amount-from', '5'],
      '--amount-from must have its decimals, such as 1250.00',
    ],
    [
      ['price', 'override', '--game', 'cs', '--item', 'x', '--usd', '850', '--reason', 'x'],
      '--usd must have its decimals, such as 1250.00',
    ],
    [['webhook', 'replay', '1'], 'Give either --event ID, or --from and --to of a range of sequences.'],
    [['webhook', 'replay', '1', '--event', '17'], '17 is not the id of an event, which is a UUID.'],
    [['webhook', 'replay', '1', '--from', '9', '--to', '8'], '--to 8 is before --from 9.'],
    [
      ['webhook', 'replay', '1', '--from', '1', '--to', '9007199254740992'],
      '--to must be a whole number up to 9007199254740991.',
    ],
    [['acts', '--limit', '1', '--limit', '2'], '--limit can be given only once.'],
    [['acts', '--since', 'now'], '--since must be a date, such as 2026-11-22 or 2026-11-22T08:00Z.'],
    [
      ['acts', '--since', '2026-11-22T08:00'],
      '--since must be a date, such as 2026-11-22 or 2026-11-22T08:00Z.',
    ],
    [
      ['report', 'money', '--from', '2026-11-01', '--to', '2026-11-31'],
      '--to must be a date, such as 2026-11-22 or 2026-11-22T08:00Z.',
    ],
    [
      ['maintenance', 'on', '--until', '2026-02-29T23:00-05:00'],
      '--until must be a date, such as 2026-11-22 or 2026-11-22T08:00Z.',
    ],
  ])('%j ends with code 2, and stderr says what is expected', async (args, expected) => {
    const answer = await runCommand(args, { databaseUrl: NOWHERE })
    expect(answer).toEqual({ out: '', errors: `${expected}\n`, code: 2 })
    const asJson = await runCommand([...args, '--json'], { databaseUrl: NOWHERE })
    expect({ ...asJson, errors: JSON.parse(asJson.errors) }).toEqual({
      out: '',
      errors: { error: { kind: 'usage', message: expected } },
      code: 2,
    })
  })
})

describe('a command', () => {
  it.each([
    [['webhook', 'replay', '1', '--from', '1052202005', '--to', '1052202006']],
    [
      [
        'listen',
        '--till',
        'http://127.0.0.1:9',
        '--key',
        'k',
        '--forward-to',
        'http://127.0.0.1:9/',
        '--after',
        '1052202004',
      ],
    ],
  ])('%j accepts the large sequences that events have after a restore of an old till', async (args) => {
    expect(await runCommand(args, { databaseUrl: NOWHERE })).toMatchObject({ code: 5 })
  })

  it('run as a process reads piped input, and explains a refusal without a stack trace', async () => {
    const input = 'item,bot\n7-12,x\n'
    const args = ['items', 'moved', '--reason', 'sold']
    const result = await spawnCommand(args, { databaseUrl: database.url, input })
    expect(result).toEqual({
      code: 4,
      out: '7-12 is not held by a bot\n0 recorded as moved.\n',
      errors: '1 not recorded.\n',
    })
  })

  it('with wrong settings ends with code 2 and a line for each of them', async () => {
    const env = { TRADETILL_PORT: 'abc', TRADETILL_MODE: 'nonsense' }
    const { errors, code } = await runCommand(['bot', 'list'], { databaseUrl: database.url, env })
    expect(code).toBe(2)
    expect(errors).toMatch(/cannot start with these settings:\n( {2}- TRADETILL_\w+ .*\n){2}See docs/)
  })

  it('without a gateway and without DATABASE_URL ends with code 5 and says what to do', async () => {
    const env = { DATABASE_URL: '', TRADETILL_DATA: folder }
    const { errors, code } = await runCommand(['bot', 'list'], { databaseUrl: NOWHERE, env })
    expect({ errors, code }).toEqual({
      errors: `No gateway is running on ${folder}. Start it first, or set DATABASE_URL.\n`,
      code: 5,
    })
  })

  it.each([
    ['bot', 'list'],
    ['maintenance', 'on'],
    ['ledger', 'verify'],
  ])('%s %s without a database ends with code 5', async (...args) => {
    const answer = await runCommand(args, { databaseUrl: NOWHERE })
    expect(answer).toMatchObject({ out: '', code: 5 })
    expect(answer.errors).toMatch(/^The database cannot be reached: .*ECONNREFUSED/)
  })

  it.each(['backup create --to backups', 'migrate status', 'migrate run', 'migrate run --dry-run'])(
    '%s after a kill of the gateway ends with code 5 and says that none is running',
    async (words) => {
      const data = mkdtempSync(join(folder, 'killed-'))
      // A kill leaves the file behind.
      const staleConnection = { url: NOWHERE, ownerUrl: NOWHERE, vaultUrl: NOWHERE }
      writeFileSync(connectionFileOf(data), JSON.stringify(staleConnection))
      const answer = await runCommand(words.split(' '), { env: { TRADETILL_DATA: data } })
      const errors = expect.stringMatching(
        /^No gateway is running on the embedded database\. Start it first[.:]/,
      )
      expect(answer).toEqual({ out: '', errors, code: 5 })
    },
  )

  it.each(['migrate status', 'migrate run --dry-run'])(
    '%s answers while another process migrates, which can take hours',
    async (words) => {
      const pool = testPool(database.url)
      const client = await pool.connect()
      await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
      let code: number | null | undefined
      const ended = runCommand(words.split(' '), { databaseUrl: database.url }).then((answer) => {
        code = answer.code
      })
      try {
        await expect.poll(() => code, { timeout: 20_000 }).toBe(0)
      } finally {
        client.release(true)
        await Promise.all([ended, pool.end()])
      }
    },
  )

  it('with a password among its arguments is refused, and does not repeat the password', async () => {
    const { out, errors, code } = await runCommand(['bot', 'enrol', '--password', 'hunter2'], {
      databaseUrl: database.url,
    })
    expect({ out, errors, code }).toEqual({
      out: '',
      errors: 'There is no option --password: see --help.\n',
      code: 2,
    })
  })

  it('that fails says why, but redacts a secret that the error quotes', async () => {
    const secret = 'whsec_c2VjcmV0'
    const databaseUrl = `${database.url}-${secret}`
    const { errors, code } = await runCommand(['bot', 'list'], { databaseUrl })
    expect({ errors, code }).toEqual({
      errors: expect.stringMatching(
        /^The database cannot be reached: database ".*whsec_\[redacted\]" does not exist\n$/,
      ),
      code: 5,
    })
  })

  it('that only reads and writes rows loads neither the Steam client libraries nor the server', async () => {
    const commands = [
      'bot list',
      'store show 1',
      'deposit show 1',
      'price list',
      'items export',
      'maintenance off',
      'acts',
    ]
    const { errors, code, loaded } = await runAndRecord(commands, { script: EACH_COMMAND_SCRIPT })
    expect(errors).toContain('There is no store 1.\nThere is no deposit 1.\n')
    expect(code).toBe(0)
    expect(loaded).toContain('pg')
    const heavy = ['fastify', 'pg-boss', 'pino', 'prom-client', 'gateway/trades']
    const steam = ['steam-session', 'steamcommunity', 'steam-tradeoffer-manager', 'steam-totp', 'steamid']
    expect([...heavy, ...steam].filter((name) => loaded.has(name))).toEqual([])
  })
})

describe('serve', () => {
  it('loads no query builder, job queue or web server with the code that prepares its database', async () => {
    const { code, loaded } = await runAndRecord([], { script: '../startup.ts' })
    expect(code).toBe(0)
    expect(loaded).toContain('pg')
    expect(['kysely', 'pg-boss', 'fastify'].filter((name) => loaded.has(name))).toEqual([])
  })

  it('starts without loading ajv, Fastify’s own library for schemas', async () => {
    const [port, consolePort] = [await freePort(), await freePort()]
    const { out, code, loaded } = await runAndRecord(['serve'], {
      env: {
        TRADETILL_PORT: String(port),
        TRADETILL_CONSOLE_PORT: String(consolePort),
        TRADETILL_DATA: folder,
        TRADETILL_PRICE_SOURCES: 'none',
        // The gateway stops when its stdin ends, which is at once here.
        TRADETILL_STDIN: '1',
      },
    })
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('gateway ready at ') })
    expect(loaded).toContain('fastify')
    expect(['ajv', '@fastify/ajv-compiler'].filter((name) => loaded.has(name))).toEqual([])
  })
})

describe('ledger verify', () => {
  it('ends with code 0 if all sums agree', async () => {
    const verified = await runCommand(['ledger', 'verify'], { databaseUrl: database.url })
    expect(verified).toEqual({ out: '0 entries checked, 0 differences.\n', errors: '', code: 0 })
  })

  it('ends with code 1 and prints what differs, without loading the query builder', async () => {
    await database.pool.query(`insert into account (kind, currency, balance) values ('items', 'USD', 5)`)
    const { out, errors, code, loaded } = await runAndRecord(['ledger', 'verify'])
    await database.pool.query('delete from account')
    expect({ errors, code }).toEqual({ errors: '0 entries checked, 2 differences.\n', code: 1 })
    expect(out).toContain('the balances of a currency do not sum to zero: USD: 5')
    expect(loaded).toContain('pg')
    expect(loaded).not.toContain('kysely')
  })
})

/** Writes the URLs of all loaded modules to LOADED_FILE when the process ends. */
const RECORDER = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  import { writeFileSync } from 'node:fs'
  const loaded = []
  registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context) } })
  process.on('exit', () => writeFileSync(process.env.LOADED_FILE, loaded.join('\\n')))
`)}`

type RecordOptions = { env?: Record<string, string>; script?: string }

/** Runs the command as a process. Returns the packages and gateway folders that it loaded code from. */
async function runAndRecord(args: string[], { env = {}, script = 'main.ts' }: RecordOptions = {}) {
  const file = join(folder, 'loaded')
  const result = await spawnCommand(args, {
    databaseUrl: database.url,
    env: { ...env, LOADED_FILE: file },
    nodeOptions: [`--import=${RECORDER}`],
    script,
  })
  const modules = readFileSync(file, 'utf8').split('\n')
  expect(modules.some((url) => url.endsWith(`/${basename(script)}`))).toBe(true)
  const names = modules.flatMap((url) => {
    const [, name] =
      /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url) ?? /\/(gateway\/[^/]+)/.exec(url) ?? []
    return name === undefined ? [] : [name]
  })
  return { ...result, loaded: new Set(names) }
}
