/** The errors of damaged or missing files. The operator reads them at the till, as the reason of `start_failed`. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { readAccounts, saveAccount } from './accounts.ts'
import { readApproval, saveApproval } from './approvals.ts'
import { type Folder, openFolder } from './folder.ts'
import { openKey } from './key.ts'
import { openLog, readLog } from './log.ts'
import { readMarkets, saveMarket } from './markets.ts'
import { readRules } from './rules.ts'

const ACCOUNT = '76561198000000001'
const SECRET = Buffer.alloc(20, 1).toString('base64')
const READERS: Readonly<Record<string, (folder: Folder) => unknown>> = {
  'accounts.json': (folder) => readAccounts(folder, openKey(folder)),
  'markets.json': (folder) => readMarkets(folder, openKey(folder)),
  'approval-7': (folder) => readApproval(folder, openKey(folder), '7'),
  'log.jsonl': (folder) => [...readLog(folder, openKey(folder))],
  'rules.json': readRules,
}

let path: string
let folder: Folder

beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'vault-damaged-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  folder = openFolder(path)
  const key = openKey(folder)
  const secrets = { accountName: 'a', refreshToken: 'r', sharedSecret: SECRET, identitySecret: SECRET }
  saveAccount(folder, key, { steamId: ACCOUNT, sells: true, secrets })
  const flags = { mayLose: false, sellsItself: false }
  saveMarket(folder, key, { market: 'waxpeer.com', steamId: ACCOUNT, key: 'k'.repeat(31), ...flags })
  saveApproval(folder, key, {
    wishId: '7',
    approval: { partner: { steamId: ACCOUNT, token: 'AbC12-_x' }, assets: [] },
  })
  const log = openLog(folder, key)
  log.add('an entry', new Date(0))
  log.close()
})

const messageOf = (name: string): string => {
  try {
    READERS[name]?.(folder)
  } catch (error) {
    return error instanceof Error ? error.message : ''
  }
  return 'no error'
}

describe('the error names the file', () => {
  it.each([
    ['accounts.json', ''],
    ['accounts.json', 'null'],
    ['accounts.json', '[{"steamId": "765'],
    ['accounts.json', '[{"steamId": "765"}]'],
    ['markets.json', ''],
    ['markets.json', 'null'],
    ['markets.json', '[{"market": "wax'],
    ['markets.json', '[{"market": "skinport.com"}]'],
    ['rules.json', '{"destinations": {'],
    ['rules.json', '{}'],
  ])('%s that contains only %o', (name, text) => {
    writeFileSync(join(path, name), text, { mode: 0o600 })
    expect(messageOf(name)).toContain(join(path, name))
  })

  it.each(['accounts.json', 'markets.json', 'approval-7', 'log.jsonl'])(
    '%s, and that of the key, if the key is another one',
    (name) => {
      writeFileSync(join(path, 'key'), `${'0'.repeat(64)}\n`)
      const message = messageOf(name)
      expect(message).toContain(join(path, name))
      expect(message).toContain(join(path, 'key'))
    },
  )
})

describe('a folder whose key is missing', () => {
  it.each(['accounts.json', 'markets.json', 'log.jsonl', 'log.begun'])(
    'gets no new one while it has %s, which shows that there was a key',
    (name) => {
      renameSync(join(path, 'key'), join(path, 'key.elsewhere'))
      for (const other of ['accounts.json', 'markets.json', 'log.jsonl', 'log.begun'])
        if (other !== name) rmSync(join(path, other))
      expect(() => openKey(folder)).toThrow(`${join(path, 'key')} is missing`)
      expect(folder.has('key')).toBe(false)
    },
  )

  it('gets a key if it has only rules, which may be written first', () => {
    for (const name of ['key', 'accounts.json', 'markets.json', 'log.jsonl', 'log.begun', 'approval-7'])
      rmSync(join(path, name))
    writeFileSync(join(path, 'rules.json'), '{}', { mode: 0o600 })
    openKey(folder)
    expect(folder.has('key')).toBe(true)
  })
})
