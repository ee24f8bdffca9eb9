import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { copyCluster } from './folder.ts'

const SEGMENT = '000000010000000000000001'

it('the error of a copy onto a full disk names the file that did not fit', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-full-disk-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [source, target] = [join(folder, 'source'), join(folder, 'target')]
  mkdirSync(join(source, 'pg_wal'), { recursive: true })
  writeFileSync(join(source, 'pg_wal', SEGMENT), 'log')
  const full = join(target, 'pg_wal', SEGMENT)
  const query = async (statement: string) => {
    // Every write to /dev/full fails for lack of space. By now the folders of the copy exist.
    if (statement.includes('pg_backup_stop')) symlinkSync('/dev/full', full)
    return { rows: [{ folder: source, label: `(file ${SEGMENT})`, tablespaces: '' }] }
  }
  const copy = copyCluster({ query } as unknown as Pick<pg.Client, 'query'>, target)
  await expect(copy).rejects.toThrow(`could not be copied to ${full}: ENOSPC`)
})
