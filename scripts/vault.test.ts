import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { lacks, runWithInput } from './vault.ts'

const LONGER_THAN_A_PIPE = 'x'.repeat(1_000_000)

const run = (code: string, { input = '', stopping = new AbortController().signal } = {}) =>
  runWithInput(['-e', code], { env: {}, account: undefined, input, stopping })

describe('a command of the vault', () => {
  it('receives its input, and if it fails, its first line on stderr is reported', async () => {
    await run(`process.exitCode = require('node:fs').readFileSync(0).length - ${LONGER_THAN_A_PIPE.length}`, {
      input: LONGER_THAN_A_PIPE,
    })
    await expect(run("console.error('one\\ntwo'); process.exitCode = 1")).rejects.toThrow(/: one$/)
  })

  it('that ends with an error before it reads its input is reported as failed', async () => {
    await expect(run('process.exit(3)', { input: LONGER_THAN_A_PIPE })).rejects.toThrow('Command failed')
  })

  it('ends when npm start is stopped', async () => {
    const stop = new AbortController()
    const command = run('setInterval(() => {}, 1_000_000)', { stopping: stop.signal })
    stop.abort()
    await expect(command).rejects.toThrow('aborted')
  })
})

it('a set-up that was interrupted before its last entry is not taken for a complete one', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-vault-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const rules = join(folder, 'rules.json')
  expect(lacks(rules, 'storage')).toBe(true)
  writeFileSync(rules, JSON.stringify({ destinations: {}, limits: { usdAnHour: '5000.00' } }))
  expect(lacks(rules, 'storage')).toBe(true)
  writeFileSync(rules, JSON.stringify({ destinations: { storage: {} } }))
  expect(lacks(rules, 'storage')).toBe(false)
})
