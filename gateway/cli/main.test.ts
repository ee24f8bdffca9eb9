/** The command line as the operator starts it: processes, their exit codes, and what they load. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callCommand, runCommand, spawnCommand } from '../testing/command.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { COMMANDS } from './commands.ts'
import { checkLedger } from './ledger.ts'

/** Runs several commands, each an argument, in one process. */
const EACH = '../testing/each-command.ts'
/** Nothing listens there: what does not need a database must not miss it. */
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

describe('help', () => {
  it.each(['--help', '-h', 'help'])('%s prints every command and ends with code 0', async (word) => {
    const { out, errors, code } = await runCommand([word], { databaseUrl: NOWHERE })
    expect({ errors, code }).toEqual({ errors: '', code: 0 })
    for (const { name } of COMMANDS) expect(out).toContain(`\n  ${name}`)
  })

  it('--help as a process ends with code 0 too, whatever the settings are, and loads nothing but itself', async () => {
    const { out, errors, code, loaded } = await recorded(['--help'], { env: { TRADETILL_MODE: 'nonsense' } })
    expect({ errors, code }).toEqual({ errors: '', code: 0 })
    expect(out).toContain('usage: npm run --silent tradetill -- COMMAND')
    expect([...loaded].sort()).toEqual(['gateway/cli', 'gateway/kit'])
  })

  it.each([
    [['bot', '--help'], 'bot remove BOT', 'store add'],
    [['store', 'add', '--help'], '[--risk-limit-usd DOLLARS]', 'store update'],
  ])('%j prints only its part', async (args, there, elsewhere) => {
    const { out, code } = await runCommand(args, { databaseUrl: NOWHERE })
    expect(code).toBe(0)
    expect(out).toContain(there)
    expect(out).not.toContain(elsewhere)
  })

  it.each([
    [[], /^usage: /],
    [['bot'], /^There is no command "bot"\.\n\nusage: /],
    [['bot', 'feed'], /^There is no command "bot feed"\.\n\nusage: /],
    [['boat', '--help'], /^There is no command "boat --help"\.\n\nusage: /],
  ])('%j is refused with the help on stderr and code 1', async (args, told) => {
    const { out, errors, code } = await runCommand(args, { databaseUrl: NOWHERE })
    expect({ out, code }).toEqual({ out: '', code: 1 })
    expect(errors).toMatch(told)
  })
})

describe('a command', () => {
  it('as a process reads what is piped to it; refused, it ends with code 1 and says why without a stack', async () => {
    const input = 'item,bot\n7-12,x\n'
    const moved = await spawnCommand(['items', 'moved'], { databaseUrl: database.url, input })
    expect(moved).toEqual({
      code: 1,
      out: '0 recorded as moved\n',
      errors: '7-12 is not in the hands of a bot (any more)\n1 not recorded.\n',
    })
  })

  it('with wrong settings ends with code 1 and a readable list', async () => {
    const env = { TRADETILL_PORT: 'abc', TRADETILL_MODE: 'nonsense' }
    const { errors, code } = await runCommand(['bot', 'list'], { databaseUrl: database.url, env })
    expect(code).toBe(1)
    expect(errors).toMatch(/cannot start with these settings:\n( {2}- TRADETILL_\w+ .*\n){2}See docs/)
  })

  it('without a gateway and without DATABASE_URL says what to do', async () => {
    const env = { DATABASE_URL: '', TRADETILL_DATA: folder }
    const { errors, code } = await runCommand(['bot', 'list'], { databaseUrl: NOWHERE, env })
    expect({ errors, code }).toEqual({
      errors: `No gateway is running on ${folder}. Start it first, or set DATABASE_URL.\n`,
      code: 1,
    })
  })

  it('takes no secret as an argument', async () => {
    const { errors, code } = await runCommand(['bot', 'enrol', '--password', 'hunter2'], {
      databaseUrl: database.url,
    })
    expect(code).toBe(1)
    expect(errors).toContain("Unknown option '--password'")
  })

  it('that only reads or writes rows loads neither the client libraries of Steam nor the server', async () => {
    const cheap = [
      'bot list',
      'store show 1',
      'deposit show 1',
      'price list',
      'items export',
      'maintenance off',
    ]
    const { errors, code, loaded } = await recorded(cheap, { script: EACH })
    expect({ errors, code }).toEqual({ errors: 'there is no store 1\nthere is no deposit 1\n', code: 0 })
    expect(loaded).toContain('pg')
    const heavy = ['fastify', 'pg-boss', 'pino', 'prom-client', 'gateway/http', 'gateway/trades']
    const steam = ['steam-session', 'steamcommunity', 'steam-tradeoffer-manager', 'steam-totp', 'steamid']
    expect([...heavy, ...steam].filter((name) => loaded.has(name))).toEqual([])
  })
})

describe('verify-ledger', () => {
  const verify = (env: Record<string, string> = {}) =>
    callCommand(checkLedger, { databaseUrl: database.url, env })

  it('ends with code 0 where all sums agree', async () => {
    expect(await verify()).toEqual({ out: '0 entries checked, 0 differences\n', errors: '', code: 0 })
  })

  it('ends with code 1 and tells each difference, without the query builder', async () => {
    await database.pool.query(`insert into account (kind, currency, balance) values ('items', 'USD', 5)`)
    const { out, errors, code, loaded } = await recorded([], { script: 'verify-ledger.ts' })
    await database.pool.query('delete from account')
    expect({ out, code }).toEqual({ out: '0 entries checked, 2 differences\n', code: 1 })
    expect(errors).toContain('the balances of a currency do not sum to zero: USD: 5')
    expect(loaded).toContain('pg')
    expect(loaded).not.toContain('kysely')
  })

  it('ends with code 2 where nothing can be checked', async () => {
    const unchecked = await verify({ DATABASE_URL: NOWHERE })
    expect(unchecked).toMatchObject({ out: '', code: 2, errors: expect.stringContaining('ECONNREFUSED') })
  })
})

/** Writes the addresses of all modules that the process loaded into LOADED_FILE. */
const RECORDER = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  import { writeFileSync } from 'node:fs'
  const loaded = []
  registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context) } })
  process.on('exit', () => writeFileSync(process.env.LOADED_FILE, loaded.join('\\n')))
`)}`

type Recorded = { env?: Record<string, string>; script?: string }

/** The command as a process, with the packages and the folders of the gateway that it loaded anything of. */
async function recorded(args: string[], { env = {}, script = 'main.ts' }: Recorded) {
  const file = join(folder, 'loaded')
  const ended = await spawnCommand(args, {
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
  return { ...ended, loaded: new Set(names) }
}
