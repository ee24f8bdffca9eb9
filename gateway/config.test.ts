import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DEFAULT_FLEET_LIMITS } from './bots/fleet.ts'
import { readConfig } from './config.ts'
import { makeOwnKey } from './master-key.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tradetill-config-'))
})

afterEach(() => {
  rmSync(folder, { recursive: true })
})

const read = (environment: Record<string, string>) => readConfig({ TRADETILL_DATA: folder, ...environment })

const LIVE = {
  TRADETILL_MODE: 'live',
  TRADETILL_PUBLIC_URL: 'https://pay.example.com',
  DATABASE_URL: 'postgres://till:secret@db.example.com/till?sslmode=verify-full',
  TRADETILL_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
  TRADETILL_TRUSTED_PROXIES: '127.0.0.1',
}

function problemsOf(environment: Record<string, string>): string[] {
  const answer = read(environment)
  return answer.kind === 'refused' ? answer.problems : []
}

describe('sandbox mode', () => {
  test('runs without settings, and makes no master key before the database is known', () => {
    expect(read({})).toMatchObject({
      config: {
        mode: 'sandbox',
        port: 4300,
        masterKey: undefined,
        steamSandboxUrl: 'http://127.0.0.1:4301',
        webhookMode: 'sandbox',
        trustedProxies: undefined,
      },
    })
    expect(existsSync(join(folder, 'master.key'))).toBe(false)
  })

  test('makes a master key in a private file, reads that key at later starts, and refuses a damaged key', () => {
    const [first, second] = [makeOwnKey(folder), makeOwnKey(folder)]
    expect(second.equals(first)).toBe(true)
    expect(read({})).toMatchObject({ config: { masterKey: first } })
    expect(statSync(join(folder, 'master.key')).mode & 0o777).toBe(0o600)
    writeFileSync(join(folder, 'master.key'), 'not a key')
    expect(problemsOf({})).toEqual([expect.stringMatching(/^The master key in .* must hold 32 bytes/)])
  })

  test.each(['http://203.0.113.9:4301', 'http://127.0.0.1.evil.example', 'https://steamcommunity.com'])(
    'refuses the sandbox address %s',
    (url) => {
      expect(problemsOf({ TRADETILL_STEAM_SANDBOX_URL: url })).toEqual([
        expect.stringContaining('TRADETILL_STEAM_SANDBOX_URL must be on this machine'),
      ])
    },
  )

  test.each([
    ['TRADETILL_MODE', 'production'],
    ['TRADETILL_PORT', '70000'],
    ['TRADETILL_PORT', 'http'],
    ['TRADETILL_PUBLIC_URL', 'javascript:alert(1)'],
    ['TRADETILL_PUBLIC_URL', 'pay.example'],
    ['TRADETILL_PUBLIC_URL', 'http://localhost/?till'],
    ['TRADETILL_STEAM_SANDBOX_URL', 'sandbox'],
    ['TRADETILL_MASTER_KEY', 'short'],
    ['TRADETILL_MASTER_KEY_FILE', '/does/not/exist'],
    ['TRADETILL_MAX_ITEMS', '0'],
    ['TRADETILL_MAX_CONNECTIONS', '1'],
    ['TRADETILL_MAX_CONNECTIONS_PER_ADDRESS', '0'],
    ['TRADETILL_BOT_OFFERS', '0'],
    ['TRADETILL_BOT_OFFERS', 'many'],
    ['TRADETILL_BOT_OFFERS_PER_PARTNER', '2.5'],
    ['TRADETILL_BOT_ITEMS', '1001'],
    ['TRADETILL_COMMISSION_BPS', '10000'],
    ['DATABASE_URL', 'mysql://localhost/till'],
    ['TRADETILL_STDIN', 'yes'],
    ['TRADETILL_LOG_LEVEL', 'loud'],
    ['TRADETILL_SUPPORT_EMAIL', 'us'],
    ['TRADETILL_TRUSTED_PROXIES', '0.0.0.0/0'],
    ['TRADETILL_PUBLIC_SANDBOX', 'yes'],
    ['TRADETILL_ROLES', 'web,worker'],
    ['TRADETILL_ROLES', ','],
    ['TRADETILL_DRAIN_SECONDS', '301'],
  ])('refuses %s=%s and names it', (name, value) => {
    const problems = problemsOf({ [name]: value })
    expect(problems).toEqual([expect.stringMatching(/^[A-Z_]+ (?:must|has|names)/)])
    // Each problem is one line with a reason, not a word or two.
    expect(problems[0]).toMatch(new RegExp(`^${name} .{10}`))
  })

  test.each([
    ['TRADETILL_HOST', '0.0.0.0'],
    ['TRADETILL_HOST', '192.168.1.5'],
    ['TRADETILL_PUBLIC_URL', 'https://pay.example'],
    ['TRADETILL_PUBLIC_URL', 'http://localhost.evil.example'],
  ])(
    'refuses %s=%s, which would let other machines reach the sandbox, unless the sandbox is public',
    (name, value) => {
      expect(problemsOf({ [name]: value })).toEqual([
        `${name} is ${value}, and a sandbox stays on this machine: set TRADETILL_MODE=live, or TRADETILL_PUBLIC_SANDBOX=1 for a sandbox that others may reach`,
      ])
      expect(read({ [name]: value, TRADETILL_PUBLIC_SANDBOX: '1' })).toMatchObject({
        config: { mode: 'sandbox', webhookMode: 'live' },
      })
    },
  )

  test.each([
    ['TRADETILL_HOST', '::1'],
    ['TRADETILL_HOST', '127.0.0.53'],
    ['TRADETILL_PUBLIC_URL', 'http://till.localhost:4300'],
  ])('accepts %s=%s, which is this machine', (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([])
  })

  test.each([
    ['TRADETILL_COMMISSION_BPS', 'chess:100'],
    ['TRADETILL_COMMISSION_BPS', '2500,rust:9001'],
    ['TRADETILL_PRICE_SOURCES', 'steam'],
    ['TRADETILL_SKINPORT_URL', 'http://api.skinport.com'],
  ])('refuses %s=%s and names it', (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([expect.stringContaining(name)])
  })

  test('has all roles by default; a setting that names roles needs a DATABASE_URL', () => {
    expect(read({})).toMatchObject({
      config: { roles: new Set(['web', 'bots', 'work', 'console']), drainMs: 0 },
    })
    const roles = { TRADETILL_ROLES: 'bots, work', TRADETILL_DRAIN_SECONDS: '5' }
    expect(read({ ...roles, DATABASE_URL: 'postgres://till@db/till' })).toMatchObject({
      config: { roles: new Set(['bots', 'work']), drainMs: 5_000 },
    })
    expect(problemsOf(roles)).toEqual([expect.stringContaining('TRADETILL_ROLES needs a DATABASE_URL')])
  })

  test('has a console at localhost if its port is set, and otherwise none', () => {
    expect(read({})).toMatchObject({ config: { console: undefined } })
    expect(read({ TRADETILL_CONSOLE_PORT: '4304' })).toMatchObject({
      config: { console: { url: new URL('http://localhost:4304'), host: '127.0.0.1', port: 4304 } },
    })
  })

  test('reads the limits of a bot, and refuses limits above Steam’s own', () => {
    const defaults = { liveOffers: 30, liveOffersWithPartner: 5, itemsHeld: DEFAULT_FLEET_LIMITS.itemsHeld }
    expect(read({})).toMatchObject({ config: { fleetLimits: defaults } })
    const limits = {
      TRADETILL_BOT_OFFERS: '12',
      TRADETILL_BOT_OFFERS_PER_PARTNER: '2',
      TRADETILL_BOT_ITEMS: '700,tf:50',
    }
    expect(read(limits)).toMatchObject({
      config: {
        fleetLimits: {
          liveOffers: 12,
          liveOffersWithPartner: 2,
          itemsHeld: { cs: 700, dota: 700, rust: 700, tf: 50 },
        },
      },
    })
    expect(problemsOf({ TRADETILL_BOT_OFFERS: '31', TRADETILL_BOT_OFFERS_PER_PARTNER: 'x' })).toEqual([
      'TRADETILL_BOT_OFFERS must be a whole number from 1 to 30: Steam refuses further open offers of an account',
      'TRADETILL_BOT_OFFERS_PER_PARTNER must be a whole number from 1 to 5: Steam refuses further open offers to the same person',
    ])
  })

  test('D-13 reads price rules for all games and for individual games', () => {
    const answer = read({ TRADETILL_COMMISSION_BPS: '2400,rust:3000', TRADETILL_PRICE_MIN_SALES: 'tf:3' })
    expect(answer).toMatchObject({
      config: {
        priceRules: {
          cs: { commissionBps: 2_400, minPopularity: 10, freshMs: 6 * 3_600_000 },
          rust: { commissionBps: 3_000, minPopularity: 10 },
          tf: { commissionBps: 2_400, minPopularity: 3 },
        },
      },
    })
  })

  test('D-13 refuses a commission so small that a pumped price pays above the weekly level, unless a setting allows it', () => {
    const small = { TRADETILL_COMMISSION_BPS: '2500,rust:2300,tf:0' }
    const reason =
      'TRADETILL_COMMISSION_BPS is too small for rust, tf compared with TRADETILL_PRICE_SPIKE_BPS'
    expect(problemsOf(small)).toEqual([expect.stringContaining(reason)])
    expect(problemsOf(small)[0]).toContain('TRADETILL_PRICE_ABOVE_LEVEL=rust,tf')
    expect(problemsOf({ ...small, TRADETILL_PRICE_ABOVE_LEVEL: 'rust' })[0]).toContain('ABOVE_LEVEL=rust,tf')
    expect(read({ ...small, TRADETILL_PRICE_ABOVE_LEVEL: 'rust,tf' }).kind).toBe('config')
    // At a price of 1.25 times the level, a commission of 20 % leaves exactly the level.
    expect(read({ TRADETILL_COMMISSION_BPS: '2000', TRADETILL_PRICE_SPIKE_BPS: '2500' }).kind).toBe('config')
    expect(problemsOf({ TRADETILL_PRICE_ABOVE_LEVEL: 'chess' })).toEqual([
      expect.stringContaining('TRADETILL_PRICE_ABOVE_LEVEL'),
    ])
  })

  test('D-9 reads the days of protection of each game, with defaults', () => {
    const defaults = { cs: 8, dota: 0, rust: 0, tf: 0 }
    expect(read({})).toMatchObject({ config: { protectionDays: defaults } })
    expect(read({ TRADETILL_PROTECTION_DAYS: 'cs:0,dota:3' })).toMatchObject({
      config: { protectionDays: { ...defaults, cs: 0, dota: 3 } },
    })
  })

  test('reads no prices from the web unless a setting names sources', () => {
    expect(read({})).toMatchObject({ config: { priceSources: {} } })
    const withRates = read({
      TRADETILL_PRICE_SOURCES: 'rates',
      TRADETILL_RATES_URL: 'http://127.0.0.1:20001',
    })
    expect(withRates).toMatchObject({ config: { priceSources: { rates: 'http://127.0.0.1:20001' } } })
  })

  test('reports all problems at once', () => {
    expect(problemsOf({ TRADETILL_PORT: 'x', TRADETILL_MAX_ITEMS: 'x' })).toHaveLength(2)
  })
})

describe('live mode', () => {
  test('runs with a database, a master key, a public address and a list of proxies', () => {
    expect(read(LIVE)).toMatchObject({ kind: 'config', config: { mode: 'live', steamSandboxUrl: undefined } })
  })

  test('reads every source of prices unless set otherwise', () => {
    expect(read(LIVE)).toMatchObject({
      config: {
        priceSources: {
          market: { cs: 'https://market.csgo.com', dota: 'https://market.dota2.net' },
          skinport: 'https://api.skinport.com',
          waxpeer: 'https://api.waxpeer.com',
          csfloat: 'https://csfloat.com',
          rates: 'https://open.er-api.com',
          ecb: expect.stringMatching(/^https:/),
        },
      },
    })
    expect(read({ ...LIVE, TRADETILL_PRICE_SOURCES: 'none' })).toMatchObject({ config: { priceSources: {} } })
  })

  test('reads the master key in hex from a file', () => {
    const file = join(folder, 'key')
    writeFileSync(file, `${Buffer.alloc(32, 2).toString('hex')}\n`)
    const answer = read({ ...LIVE, TRADETILL_MASTER_KEY: '', TRADETILL_MASTER_KEY_FILE: file })
    expect(answer).toMatchObject({ config: { masterKey: Buffer.alloc(32, 2) } })
  })

  test('reads the database’s addresses from files, and names the setting if the file is missing, empty or wrong', () => {
    const [file, missingFile] = [join(folder, 'url'), join(folder, 'none')]
    writeFileSync(file, `${LIVE.DATABASE_URL}\n`)
    const { DATABASE_URL: url, ...others } = LIVE
    const files = { DATABASE_URL_FILE: file, TRADETILL_OWNER_DATABASE_URL_FILE: file }
    expect(read({ ...others, ...files })).toMatchObject({
      config: { databaseUrl: url, ownerDatabaseUrl: url },
    })
    expect(problemsOf({ ...others, DATABASE_URL_FILE: missingFile })).toEqual([
      expect.stringMatching(/^DATABASE_URL_FILE names a file that does not exist/),
    ])
    expect(problemsOf({ ...LIVE, DATABASE_URL_FILE: file })).toEqual([
      expect.stringMatching(/^DATABASE_URL_FILE .*unset one/),
    ])
    const fromFile = { ...others, DATABASE_URL_FILE: file }
    writeFileSync(file, '\n')
    expect(problemsOf(fromFile).join()).toMatch(/^DATABASE_URL_FILE names an empty file/)
    writeFileSync(file, 'canary')
    expect(problemsOf(fromFile).join()).toMatch(/^DATABASE_URL, from DATABASE_URL_FILE, must be /)
  })

  test('reads older master keys from a file, one per line, and refuses other contents without printing them', () => {
    const file = join(folder, 'old')
    writeFileSync(
      file,
      `${Buffer.alloc(32, 2).toString('hex')}\n\n${Buffer.alloc(32, 3).toString('base64')}\n`,
    )
    const settings = { ...LIVE, TRADETILL_OLD_MASTER_KEYS_FILE: file }
    expect(read(settings)).toMatchObject({
      config: { masterKey: Buffer.alloc(32, 1), oldMasterKeys: [Buffer.alloc(32, 2), Buffer.alloc(32, 3)] },
    })
    for (const text of ['canary', `${'a'.repeat(64)}\n`.repeat(9)]) {
      writeFileSync(file, text)
      expect(problemsOf(settings)).toEqual([
        expect.stringMatching(/^TRADETILL_OLD_MASTER_KEYS_FILE must hold at most 8 keys, one per line/),
      ])
      expect(problemsOf(settings).join()).not.toContain(text.trim())
    }
  })

  test.each([
    [
      'a sandbox address',
      { TRADETILL_STEAM_SANDBOX_URL: 'http://127.0.0.1:4301' },
      'TRADETILL_STEAM_SANDBOX_URL',
    ],
    ['no database', { DATABASE_URL: '' }, 'DATABASE_URL'],
    ['no master key', { TRADETILL_MASTER_KEY: '' }, 'TRADETILL_MASTER_KEY'],
    ['no public address', { TRADETILL_PUBLIC_URL: '' }, 'TRADETILL_PUBLIC_URL'],
    [
      'a public address without TLS',
      { TRADETILL_PUBLIC_URL: 'http://pay.example.com' },
      'TRADETILL_PUBLIC_URL',
    ],
    [
      'fewer days of protection than Steam has',
      { TRADETILL_PROTECTION_DAYS: 'cs:6' },
      'TRADETILL_PROTECTION_DAYS',
    ],
  ])('refuses %s', (_what, change, name) => {
    expect(problemsOf({ ...LIVE, ...change })).toEqual([expect.stringContaining(name)])
  })

  test('names an invalid master key and every missing setting, and prints no secret', () => {
    const problems = problemsOf({ TRADETILL_MODE: 'live', TRADETILL_MASTER_KEY: 'canary' })
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
      'TRADETILL_MASTER_KEY',
      'DATABASE_URL',
      'TRADETILL_PUBLIC_URL',
      'TRADETILL_TRUSTED_PROXIES',
    ])
    expect(problems.join()).not.toContain('canary')
  })

  test.each([
    ['no setting for proxies', { TRADETILL_TRUSTED_PROXIES: '' }, 'TRADETILL_TRUSTED_PROXIES is needed'],
    [
      'a public listener without a proxy in front',
      { TRADETILL_TRUSTED_PROXIES: 'none', TRADETILL_HOST: '0.0.0.0' },
      'TRADETILL_HOST is 0.0.0.0, where callers without a proxy would speak plain http: listen on 127.0.0.1',
    ],
    ['a setting that prints requests', { NODE_DEBUG: 'http,tls' }, 'NODE_DEBUG must not be set in live mode'],
    [
      'unchecked certificates',
      { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
      'NODE_TLS_REJECT_UNAUTHORIZED must not be 0',
    ],
    ['a public sandbox', { TRADETILL_PUBLIC_SANDBOX: '1' }, 'TRADETILL_PUBLIC_SANDBOX must not be set'],
    [
      'a page that is not at the root of its host',
      { TRADETILL_PUBLIC_URL: 'https://pay.example/till' },
      'TRADETILL_PUBLIC_URL must have no path or query',
    ],
    [
      'an unreadable key file',
      { TRADETILL_MASTER_KEY: '', TRADETILL_MASTER_KEY_FILE: '/' },
      'TRADETILL_MASTER_KEY_FILE names a file that cannot be read (EISDIR): check the path',
    ],
  ])('refuses %s', (_what, change, reason) => {
    expect(problemsOf({ ...LIVE, ...change })).toEqual([expect.stringContaining(reason)])
  })

  test.each([
    ['db.example/till', 'leads to db.example and has no sslmode: add ?sslmode=verify-full'],
    ['127.0.0.1.evil.example/till', 'leads to 127.0.0.1.evil.example'],
    ['db.localhost/till', 'leads to db.localhost'],
    ['localhost/till?host=db.example', 'leads to db.example'],
    ['/till', 'leads to an unnamed host and has no sslmode'],
    ...['disable', 'allow', 'prefer', 'require', 'no-verify', 'verify-ca', 'verify-full&sslmode=disable'].map(
      (mode) => [`db.example/till?sslmode=${mode}`, 'has an sslmode that does not verify the server'],
    ),
    ['db.example/till?ssl=true', 'has no sslmode'],
  ])(
    'refuses the database at %s unless plain connections are allowed, and does not print the password',
    (address, reason) => {
      const credentials = address.startsWith('/') ? '' : 'till:secret@'
      const DATABASE_URL = `postgres://${credentials}${address}`
      const problems = problemsOf({ ...LIVE, DATABASE_URL })
      expect(problems).toEqual([expect.stringMatching(/^DATABASE_URL leads to /)])
      expect(problems.join()).toContain(reason)
      expect(problems.join()).not.toContain('secret')
      expect(problemsOf({ ...LIVE, DATABASE_URL, TRADETILL_PLAIN_DATABASE: '1' })).toEqual([])
      // A sandbox accepts plain connections.
      expect(problemsOf({ DATABASE_URL })).toEqual([])
    },
  )

  test.each([
    'db.example/till?sslmode=verify-full',
    'db.example/till?sslmode=verify-ca&sslrootcert=/etc/ca.pem',
    '127.0.0.1/till',
    '[::1]/till',
    'localhost:5433/till',
    'db.example/till?host=/run/postgresql',
    '%2Frun%2Fpostgresql/till',
  ])('accepts the database at %s', (address) => {
    expect(problemsOf({ ...LIVE, DATABASE_URL: `postgres://${address}` })).toEqual([])
  })

  test.each([
    ['none', undefined],
    ['127.0.0.1', ['127.0.0.1']],
    ['10.0.0.0/24, loopback,2001:db8::/32', ['10.0.0.0/24', 'loopback', '2001:db8::/32']],
  ])('accepts the proxies %s', (TRADETILL_TRUSTED_PROXIES, trustedProxies) => {
    expect(read({ ...LIVE, TRADETILL_TRUSTED_PROXIES })).toMatchObject({ config: { trustedProxies } })
  })
})
