/** Compares the documents with the code: the files that they mention, the diagrams and the error codes. */
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ERRORS } from './contract/errors.ts'
import { DIAGRAMS_OF, withDiagrams } from './scripts/diagram.ts'

const ROOT = import.meta.dirname
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(ROOT, file)))
const rootFolders = new Set(
  files.filter((file) => file.includes('/')).map((file) => file.split('/')[0] ?? ''),
)
const exists = (path: string): boolean => globSync(path, { cwd: ROOT }).length > 0
/** A release has the first, and the operator of a container makes the second. */
const NOT_IN_THE_TREE = ['bin/tradetill', 'deploy/secrets/']

/** Returns the files and folders in a cell that do not exist, each with the folder where it should be. */
function missingOf(cell: string): string[] {
  const missing: string[] = []
  let folder = '.'
  for (const [, code = ''] of cell.matchAll(/`([^`]+)`/g)) {
    const name = code.replace(/^node /, '')
    if (!/^[\w.*/-]+$/.test(name) || !/\/|\.(?:tsx?|mjs|css|md|json|sql|js)$/.test(name)) continue
    const isOfRoot = name.startsWith('./')
    const isFull = rootFolders.has(name.split('/')[0] ?? '')
    if (isFull && !code.startsWith('node ')) folder = name.endsWith('/') ? name : dirname(name)
    if (!exists(isFull || isOfRoot ? name : join(folder, name))) missing.push(`${folder}: ${name}`)
  }
  return missing
}

describe('the documents', () => {
  it.each(Object.entries(DIAGRAMS_OF))('show in %s the transitions that the code has', (document, names) => {
    const text = readFileSync(join(ROOT, document), 'utf8')
    expect(text.match(/^stateDiagram-v2$/gm)).toHaveLength(names.length)
    expect(text).toBe(withDiagrams(document, text))
  })

  it('name files and folders that exist', () => {
    const documents = files.filter((file) => /^(?:docs\/)?[\w-]+\.md$/.test(file) && file !== 'CHANGELOG.md')
    const named = documents.flatMap((document) =>
      [...readFileSync(join(ROOT, document), 'utf8').matchAll(/`([\w-]+\/[\w/.-]*)`/g)].map(
        (match) => match[1] ?? '',
      ),
    )
    const paths = named.filter((path) => rootFolders.has(path.split('/')[0] ?? ''))
    expect(paths.length).toBeGreaterThan(20)
    const missing = paths.filter((path) => !existsSync(join(ROOT, path)) && !NOT_IN_THE_TREE.includes(path))
    expect(missing).toEqual([])
  })

  it('name existing files, folders and tests in the table "Where to change what"', () => {
    const text = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8')
    const table = /## Where to change what\n([\s\S]*?)\n## /.exec(text)?.[1] ?? ''
    const rows = [...table.matchAll(/^\| (.+) \| (.+) \| (.+) \|$/gm)].slice(1)
    expect(rows.length).toBeGreaterThan(40)
    const missing = rows.map(([, change, cell = '']) => ({ change, missing: missingOf(cell) }))
    expect(missing.filter((row) => row.missing.length > 0)).toEqual([])
    const filters = rows.flatMap(([, , , tries = '']) =>
      [...tries.matchAll(/`npm test -- ([^`]+)`/g)].flatMap(([, names = '']) => names.split(' ')),
    )
    const tests = files.filter((file) => /\.test\.tsx?$/.test(file))
    expect(filters.filter((name) => !tests.some((file) => file.includes(name)))).toEqual([])
  })

  it('list every error code with its status in docs/errors.md, and no other code', () => {
    const documented = [
      ...readFileSync(join(ROOT, 'docs/errors.md'), 'utf8').matchAll(/^\| `(\w+)` \| (\d{3}) \|/gm),
    ]
    const documentedStatuses = Object.fromEntries(documented.map((row) => [row[1] ?? '', Number(row[2])]))
    const statuses = Object.fromEntries(Object.entries(ERRORS).map(([code, entry]) => [code, entry.status]))
    expect(documentedStatuses).toEqual(statuses)
  })
})

describe('a name in the table "Where to change what"', () => {
  it.each([
    ['`gateway/pricing/price.ts`, `sources/all.ts`', []],
    ['`gateway/pricing/price.ts`, `sources/gone.ts`', ['gateway/pricing: sources/gone.ts']],
    ['`gateway/bots/`, `gone.ts`', ['gateway/bots/: gone.ts']],
    ['`gateway/store-api/*-operations.ts`, `EVENT_OF_STATUS`, `./README.md`', []],
    ['`gateway/store-api/openapi.ts`, `README.md`', ['gateway/store-api: README.md']],
    ['`node scripts/gone.ts`', ['.: scripts/gone.ts']],
  ])('must exist, as a full path or in the folder of the full path before it: %s', (cell, missing) => {
    expect(missingOf(cell)).toEqual(missing)
  })
})
