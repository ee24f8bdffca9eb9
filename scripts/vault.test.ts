import { execFile } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { connectionFileOf } from '../gateway/db/connection-file.ts'
import { lacks, placeOfVault, runWithInput } from './vault.ts'

const LONGER_THAN_A_PIPE = 'x'.repeat(1_000_000)

const run = (code: string, { input = '', stopSignal = new AbortController().signal } = {}) =>
  runWithInput(['-e', code], { env: {}, account: undefined, input, stopSignal })

describe('a command of the vault', () => {
  it('receives its input, and if it fails, the error ends with the first line of its stderr', async () => {
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
    const command = run('setInterval(() => {}, 1_000_000)', { stopSignal: stop.signal })
    stop.abort()
    await expect(command).rejects.toThrow('aborted')
  })
})

it('a set-up that was interrupted before its last entry does not count as complete', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-vault-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const rules = join(folder, 'rules.json')
  expect(lacks(rules, 'storage')).toBe(true)
  writeFileSync(rules, JSON.stringify({ destinations: {}, limits: { usdAnHour: '5000.00' } }))
  expect(lacks(rules, 'storage')).toBe(true)
  writeFileSync(rules, JSON.stringify({ destinations: { storage: {} } }))
  expect(lacks(rules, 'storage')).toBe(false)
})

describe('npm run vault', () => {
  const SCRIPT = join(import.meta.dirname, 'vault-command.ts')
  const URLS = { sandboxUrl: 'http://localhost:9', marketUrl: 'http://localhost:9' }

  /** Runs a command with no setting except the folder of `npm start`. */
  async function runVault(dataRoot: string, ...args: string[]) {
    const env = { PATH: process.env.PATH, TRADETILL_DATA_ROOT: dataRoot }
    return promisify(execFile)(process.execPath, [SCRIPT, ...args], { env, encoding: 'utf8' })
  }

  function newRoot(): string {
    const dataRoot = mkdtempSync(join(tmpdir(), 'tradetill-vault-command-'))
    onTestFinished(() => rmSync(dataRoot, { recursive: true }))
    // As root, the vault runs as another user, which must be able to reach the folder.
    chmodSync(dataRoot, 0o711)
    return dataRoot
  }

  it('runs a command with the settings, and as the user, of the vault that npm start runs', async () => {
    const dataRoot = newRoot()
    const gatewayData = join(dataRoot, 'gateway')
    mkdirSync(gatewayData)
    const [url, steamSandboxUrl] = ['postgres://localhost:9/till', URLS.sandboxUrl]
    const connection = { url, ownerUrl: url, vaultUrl: url, steamSandboxUrl }
    writeFileSync(connectionFileOf(gatewayData), JSON.stringify(connection))
    const { folder, account } = placeOfVault({ dataRoot, gatewayData, ...URLS })
    mkdirSync(folder, { mode: 0o700 })
    if (account !== undefined) chownSync(folder, account.uid, account.gid)
    await runVault(dataRoot, 'limits', '--usd-an-hour', '5.00', '--usd-a-day', '9.00', '--items-an-hour', '3')
    expect((await runVault(dataRoot, 'rules')).stdout).toContain('at most 5.00 USD an hour, 9.00 USD a day')
    expect(statSync(join(folder, 'rules.json')).uid).toBe(statSync(folder).uid)
    await expect(runVault(dataRoot, 'approve', '4', '--link', 'none')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--link must be a trade link'),
    })
  })

  it('keeps the compiled code in a folder of the user that runs the vault', async () => {
    const dataRoot = newRoot()
    const gatewayData = join(dataRoot, 'gateway')
    mkdirSync(gatewayData)
    const url = 'postgres://localhost:9/till'
    writeFileSync(connectionFileOf(gatewayData), JSON.stringify({ url, ownerUrl: url, vaultUrl: url }))
    const { account, env } = placeOfVault({ dataRoot, gatewayData, ...URLS })
    mkdirSync(join(dataRoot, 'vault'), { mode: 0o700 })
    if (account !== undefined) chownSync(join(dataRoot, 'vault'), account.uid, account.gid)
    await runVault(dataRoot, 'rules')
    const cache = env.NODE_COMPILE_CACHE ?? ''
    const [compiled = ''] = readdirSync(cache)
    expect(statSync(join(cache, compiled)).uid).toBe(account?.uid ?? process.getuid?.())
  })

  it('says that npm start must run', async () => {
    await expect(runVault(newRoot(), 'rules')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^No vault runs on .*npm start/),
    })
  })
})
