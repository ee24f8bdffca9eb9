/** Checks that the documents name existing files and draw the real diagrams. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ERRORS } from './contract/errors.ts'
import { withDiagrams } from './scripts/diagram.ts'

const ROOT = import.meta.dirname
const rooms = new Set(
  execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter((file) => file.includes('/'))
    .map((file) => file.split('/')[0] ?? ''),
)

describe('the documents', () => {
  it('show the transitions of trades and deposits as the code has them', () => {
    const text = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8')
    expect(text).toBe(withDiagrams(text))
  })

  it('name files and folders that exist', () => {
    const documents = [
      'ARCHITECTURE.md',
      'CONTRIBUTING.md',
      'README.md',
      'docs/security.md',
      'docs/proofs.md',
    ]
    const named = documents.flatMap((document) =>
      [...readFileSync(join(ROOT, document), 'utf8').matchAll(/`([\w-]+\/[\w/.-]*)`/g)].map(
        (match) => match[1] ?? '',
      ),
    )
    const paths = named.filter((path) => rooms.has(path.split('/')[0] ?? ''))
    expect(paths.length).toBeGreaterThan(20)
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  })

  it('explain every error code in docs/errors.md, and no other', () => {
    const documented = [
      ...readFileSync(join(ROOT, 'docs/errors.md'), 'utf8').matchAll(/^\| `(\w+)` \| (\d{3}) \|/gm),
    ]
    const told = Object.fromEntries(documented.map((row) => [row[1] ?? '', Number(row[2])]))
    const real = Object.fromEntries(Object.entries(ERRORS).map(([code, entry]) => [code, entry.status]))
    expect(told).toEqual(real)
  })
})
