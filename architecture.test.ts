/** Holds the imports, the sizes and a few promises of the tree against ARCHITECTURE.md. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ERRORS } from './contract/errors.ts'
import { withDiagrams } from './scripts/diagram.ts'

const ROOT = import.meta.dirname
const MOST_LINES = 400
const MOST_FUNCTION_LINES = 70
const MOST_FOLDERS = 3

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(ROOT, file)))
const sources = files.filter((file) => /\.(ts|tsx|mjs)$/.test(file) && !file.endsWith('.d.ts'))
const tests = sources.filter((file) => file.endsWith('.test.ts'))

type Import = { from: string; to: string; typeOnly: boolean }

/** Every import of one source by another, as paths from the root. */
function importsOf(file: string): Import[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const found: Import[] = []
  for (const match of text.matchAll(/(?:import|export)\s+(type\s+)?[^'"`;]*?from\s+['"](\.[^'"]+)['"]/g)) {
    found.push({ from: file, to: resolve(file, match[2] ?? ''), typeOnly: match[1] !== undefined })
  }
  for (const match of text.matchAll(/import\(?\s*['"](\.[^'"]+)['"]/g)) {
    found.push({ from: file, to: resolve(file, match[1] ?? ''), typeOnly: false })
  }
  return found
}

function resolve(file: string, target: string): string {
  return normalize(join(dirname(file), target)).replaceAll('\\', '/')
}

const imports = sources.flatMap(importsOf)

const room = (path: string): string => path.split('/')[0] ?? ''
const isTest = (path: string): boolean => path.endsWith('.test.ts') || path.startsWith('gateway/testing/')

/** Which other rooms a room may import. Tests may also use what they are tested against. */
const MAY_IMPORT: Record<string, string[]> = {
  contract: [],
  gateway: ['contract'],
  widget: ['contract'],
  'steam-sandbox': [],
  'demo-store': [],
  scripts: ['gateway'],
  e2e: ['contract', 'gateway', 'widget', 'scripts'],
  bench: ['contract', 'gateway', 'widget', 'scripts', 'e2e', 'proofs', 'steam-sandbox'],
  proofs: ['contract', 'gateway', 'steam-sandbox', 'e2e'],
}
const TESTS_MAY_ALSO_IMPORT: Record<string, string[]> = { gateway: ['steam-sandbox', 'scripts'] }

/** Inside the gateway, a folder imports only folders at its own height or below. */
const HEIGHT: Record<string, number> = {
  kit: 0,
  steam: 1,
  db: 1,
  ledger: 2,
  http: 2,
  outages: 2,
  bots: 3,
  webhooks: 3,
  pricing: 3,
  deposits: 4,
  inventory: 5,
  stores: 5,
  trades: 6,
  operations: 7,
  cli: 8,
  testing: 9,
}

describe('imports', () => {
  it('are read from every room', () => {
    expect(imports.length).toBeGreaterThan(100)
  })

  it('run in the direction of the rooms', () => {
    const broken = imports.filter(({ from, to }) => {
      const [source, target] = [room(from), room(to)]
      if (source === target || MAY_IMPORT[source] === undefined) return false
      const allowed = [...MAY_IMPORT[source], ...(isTest(from) ? (TESTS_MAY_ALSO_IMPORT[source] ?? []) : [])]
      return !allowed.includes(target)
    })
    expect(broken.map(({ from, to }) => `${from} must not import ${to}`)).toEqual([])
  })

  it('run downwards inside the gateway', () => {
    const height = (path: string): number | undefined => HEIGHT[path.split('/')[1] ?? '']
    const broken = imports.filter(({ from, to, typeOnly }) => {
      if (room(from) !== 'gateway' || room(to) !== 'gateway' || isTest(from) || typeOnly) return false
      const [above, below] = [height(from), height(to)]
      return above !== undefined && below !== undefined && below > above
    })
    expect(broken.map(({ from, to }) => `${from} must not import ${to}: it stands higher`)).toEqual([])
  })

  it('keep the Steam libraries behind the port', () => {
    const broken = imports.filter(
      ({ from, to }) =>
        to === 'gateway/steam/web.ts' &&
        !isTest(from) &&
        !from.startsWith('gateway/steam/') &&
        !from.startsWith('gateway/cli/'),
    )
    expect(broken.map(({ from }) => `${from} must use gateway/steam/steam.ts`)).toEqual([])
  })

  it('give the widget only types of the schemas, so that zod stays on the server', () => {
    const withZod = sources.filter(
      (file) => room(file) === 'contract' && /from 'zod'/.test(readFileSync(join(ROOT, file), 'utf8')),
    )
    const broken = imports.filter(
      ({ from, to, typeOnly }) => room(from) === 'widget' && withZod.includes(to) && !typeOnly,
    )
    expect(withZod.length).toBeGreaterThan(0)
    expect(broken.map(({ from, to }) => `${from} must import type from ${to}`)).toEqual([])
  })
})

describe('sizes', () => {
  const measured = files.filter((file) => /\.(ts|tsx|mjs|css)$/.test(file))

  it(`no file is longer than ${MOST_LINES} lines`, () => {
    const lines = (file: string): number => readFileSync(join(ROOT, file), 'utf8').split('\n').length - 1
    const long = measured.filter((file) => lines(file) > MOST_LINES)
    expect(long.map((file) => `${file} has ${lines(file)} lines`)).toEqual([])
  })

  it(`no function is longer than ${MOST_FUNCTION_LINES} lines`, () => {
    expect(sources.filter((file) => !isTest(file)).flatMap(longFunctions)).toEqual([])
  })

  it(`no source is deeper than ${MOST_FOLDERS} folders`, () => {
    expect(sources.filter((file) => file.split('/').length - 1 > MOST_FOLDERS)).toEqual([])
  })
})

/** Functions that start a line and end at the closing brace of the same indentation. */
function longFunctions(file: string): string[] {
  const lines = readFileSync(join(ROOT, file), 'utf8').split('\n')
  return lines.flatMap((line, start) => {
    const head =
      /^(\s*)(?:export )?(?:async )?(?:function\*? (\w+)|const (\w+) = (?:async )?(?:\([^=]*|\w+) ?=> ?\{?)/.exec(
        line,
      )
    // A line that opens nothing is a whole function by itself.
    if (head === null || !/[{([<,]$/.test(line)) return []
    const indent = head[1] ?? ''
    const end = lines.findIndex(
      (other, index) =>
        index > start &&
        /^(\}|\)|\]|\S)/.test(other.slice(indent.length)) &&
        other.startsWith(indent) &&
        /^[})\]]/.test(other.slice(indent.length)),
    )
    const length = end - start + 1
    return end > 0 && length > MOST_FUNCTION_LINES
      ? [`${file}: ${head[2] ?? head[3]} has ${length} lines`]
      : []
  })
}

describe('promises of the tree', () => {
  it('only config.ts reads the environment of the gateway', () => {
    const readers = sources.filter(
      (file) =>
        room(file) === 'gateway' &&
        !isTest(file) &&
        // A command hands it over whole, for config.ts to read.
        /process\.env(?![,} ])/.test(readFileSync(join(ROOT, file), 'utf8')),
    )
    expect(readers.filter((file) => file !== 'gateway/config.ts')).toEqual([])
  })

  it('the project stands alone: it reads nothing beside itself', () => {
    const outside = new RegExp(['\\.\\.', 'shared'].join('/'))
    const broken = files.filter(
      (file) =>
        /\.(ts|tsx|mjs|json|sh|sql)$/.test(file) && outside.test(readFileSync(join(ROOT, file), 'utf8')),
    )
    expect(broken).toEqual([])
  })

  it('no test is skipped or waits by time', () => {
    const forbidden = new RegExp(
      [
        '\\b(?:it|test|describe)\\.(?:skip|todo|only|fixme)\\b',
        'setTime' + 'out\\(',
        'waitFor' + 'Timeout',
        '\\bsle' + 'ep\\(',
      ].join('|'),
    )
    const broken = tests.filter((file) => forbidden.test(readFileSync(join(ROOT, file), 'utf8')))
    expect(broken).toEqual([])
  })

  it('hooks of tests stand where they are read for every file, not once by a worker', () => {
    const hook = /^\s*(?:before|after)(?:Each|All)\(/m
    const helpers = sources.filter((file) => !tests.includes(file) && !file.endsWith('/each-test.ts'))
    const inTests = /\.test\.tsx$/
    const broken = helpers.filter(
      (file) =>
        !inTests.test(file) &&
        /^(?:before|after)(?:Each|All)\(/m.test(readFileSync(join(ROOT, file), 'utf8')),
    )
    expect(tests.some((file) => hook.test(readFileSync(join(ROOT, file), 'utf8')))).toBe(true)
    expect(broken).toEqual([])
  })

  it('ARCHITECTURE.md draws the edges of trades and deposits as the code has them', () => {
    const text = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8')
    expect(text).toBe(withDiagrams(text))
  })

  it('every error code is explained in docs/errors.md, and no other', () => {
    const documented = [
      ...readFileSync(join(ROOT, 'docs/errors.md'), 'utf8').matchAll(/^\| `(\w+)` \| (\d{3}) \|/gm),
    ]
    const told = Object.fromEntries(documented.map((row) => [row[1] ?? '', Number(row[2])]))
    const real = Object.fromEntries(Object.entries(ERRORS).map(([code, entry]) => [code, entry.status]))
    expect(told).toEqual(real)
  })
})
