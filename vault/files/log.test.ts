import { execFile } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { openFolder } from './folder.ts'
import { openKey } from './key.ts'
import { openLog, readLog } from './log.ts'

/** No file may exceed 8 blocks of 512 or 1,024 bytes, as if the disk were full. */
const LIMITED = 'ulimit -f 8; exec "$0" --input-type=module -e "$1" "$2"'

const SCRIPT = `
import { openFolder } from '${import.meta.dirname}/folder.ts'
import { openKey } from '${import.meta.dirname}/key.ts'
import { openLog, readLog } from '${import.meta.dirname}/log.ts'
const folder = openFolder(process.argv[1])
const key = openKey(folder)
const log = openLog(folder, key)
const large = 'x'.repeat(20_000)
const outcomeOf = (write) => { try { write(); return 'written' } catch (error) { return error.message } }
console.log(JSON.stringify([
  outcomeOf(() => log.add('small', new Date(0))),
  outcomeOf(() => log.add(large, new Date(0))),
  outcomeOf(() => log.add('next', new Date(0))),
  outcomeOf(() => folder.write('rules.json', large)),
  folder.read('rules.json') === undefined,
  [...readLog(folder, key)].map(({ entry }) => entry),
]))
`

it('an entry for which the disk lacks room is refused and cut off, and the log takes a smaller one afterwards', async () => {
  const path = mkdtempSync(join(tmpdir(), 'vault-full-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  const args = ['-c', LIMITED, process.execPath, SCRIPT, path]
  const { stdout } = await promisify(execFile)('sh', args)
  expect(JSON.parse(stdout)).toEqual([
    'written',
    expect.stringContaining('EFBIG'),
    'written',
    expect.stringContaining('EFBIG'),
    true,
    ['small', 'next'],
  ])
})

it('entries are read from a file of any length, including entries that span two reads', () => {
  const path = mkdtempSync(join(tmpdir(), 'vault-long-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  const folder = openFolder(path)
  const key = openKey(folder)
  const log = openLog(folder, key)
  // More than a megabyte, with characters of several bytes.
  const texts = Array.from({ length: 5 }, (_, index) => `${index}${'д'.repeat(150_000)}`)
  for (const text of texts) log.add(text, new Date(0))
  expect([...log.entries()].map(({ entry }) => entry)).toEqual(texts)
  log.close()
  appendFileSync(join(path, 'log.jsonl'), '{"n":6,')
  const reopened = openLog(folder, key)
  expect(reopened.add('last', new Date(0)).n).toBe(6)
  reopened.close()
  expect([...readLog(folder, key)].map(({ n }) => n)).toEqual([1, 2, 3, 4, 5, 6])
})

it('a process that finds another process’s entries in its log adds none, so the two cannot both give the same items', () => {
  const path = mkdtempSync(join(tmpdir(), 'vault-twice-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  const folder = openFolder(path)
  const key = openKey(folder)
  const [first, second] = [openLog(folder, key), openLog(folder, key)]
  first.add('of the first', new Date(0))
  for (let tries = 0; tries < 2; tries += 1)
    expect(() => second.add('of the second', new Date(0))).toThrow(/log\.jsonl .*another process/)
  first.add('of the first again', new Date(0))
  expect([...readLog(folder, key)].map(({ entry }) => entry)).toEqual(['of the first', 'of the first again'])
  first.close()
  second.close()
})
