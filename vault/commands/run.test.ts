/** A vault that does not start tells the operator through the till. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { testDatabase } from '../../gateway/testing/database.ts'
import { openFolder } from '../files/folder.ts'
import { openKey } from '../files/key.ts'
import { run } from './run.ts'

it('a vault whose log was changed does not start, and the till has the reason', async () => {
  const database = await testDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'vault-'))
  onTestFinished(async () => {
    rmSync(folder, { recursive: true })
    await database.close()
  })
  openKey(openFolder(folder))
  writeFileSync(join(folder, 'log.jsonl'), '{"n":1}\n', { mode: 0o600 })
  const settings = {
    mode: 'sandbox',
    folder,
    databaseUrl: database.url,
    steamSandboxUrl: 'http://127.0.0.1:9',
    marketSandboxUrl: undefined,
    followsStdin: false,
  } as const
  await expect(run(settings)).rejects.toThrow('is not what the vault wrote')
  const { rows } = await database.pool.query('select kind, about, text from vault_need')
  expect(rows).toEqual([
    {
      kind: 'start_failed',
      about: '',
      text: expect.stringMatching(/^the vault did not start: Entry 1 of .* is not what the vault wrote/),
    },
  ])
})
