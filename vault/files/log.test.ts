import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'

/** Files of the vault's folder may have 8 blocks of 512 or 1,024 bytes, as if the disk were full. */
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
  readLog(folder, key).length,
]))
`

it('a write that the disk takes only in part throws, and the log keeps its earlier entries', async () => {
  const path = mkdtempSync(join(tmpdir(), 'vault-full-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  const args = ['-c', LIMITED, process.execPath, SCRIPT, path]
  const { stdout } = await promisify(execFile)('sh', args)
  expect(JSON.parse(stdout)).toEqual([
    'written',
    expect.stringContaining('EFBIG'),
    expect.stringContaining('An earlier write to the log of the vault failed'),
    expect.stringContaining('EFBIG'),
    true,
    1,
  ])
})
