import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { readSettings } from '../settings.ts'
import { Refusal, type Terminal } from '../terminal.ts'
import { enrol } from './enrol.ts'

it('an account cannot be enrolled from an empty pipe, and nothing is written', async () => {
  const path = mkdtempSync(join(tmpdir(), 'vault-enrol-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  const settings = readSettings({
    TRADETILL_VAULT: path,
    TRADETILL_STEAM_SANDBOX_URL: 'http://localhost:4301',
  })
  const pipe: Terminal = { isPerson: false, print() {}, ask: async () => '', lines: async () => [] }
  await expect(enrol(settings, pipe, { sells: false })).rejects.toThrow(Refusal)
  expect(readdirSync(path)).toEqual([])
})
