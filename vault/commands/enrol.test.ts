import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { credentialsOf } from '../../steam-sandbox/credentials.ts'
import { startSteam } from '../../steam-sandbox/start.ts'
import { findOrAddSeller } from '../../steam-sandbox/world/guests.ts'
import { readAccounts } from '../files/accounts.ts'
import { openFolder } from '../files/folder.ts'
import { openKey } from '../files/key.ts'
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

it('an account that is enrolled again keeps its kind, unless the operator names another one', async () => {
  const path = mkdtempSync(join(tmpdir(), 'vault-enrol-'))
  const steam = await startSteam({ port: 0, seed: 'vault', quotas: false })
  onTestFinished(async () => {
    await steam.close()
    rmSync(path, { recursive: true })
  })
  const seller = steam.change(findOrAddSeller)
  if (seller === undefined) throw new Error('there is no seller')
  const { accountName, password, sharedSecret, identitySecret } = credentialsOf(seller)
  const printed: string[] = []
  const pipe: Terminal = {
    isPerson: false,
    print: (line) => void printed.push(line),
    ask: async () => '',
    lines: async () => [[accountName, password, sharedSecret, identitySecret].join('\t')],
  }
  const settings = readSettings({ TRADETILL_VAULT: path, TRADETILL_STEAM_SANDBOX_URL: steam.url })
  const kinds: unknown[] = []
  for (const sells of [true, undefined, false, undefined]) {
    await enrol(settings, pipe, { sells })
    const folder = openFolder(path)
    kinds.push(...readAccounts(folder, openKey(folder)).map((account) => account.sells))
  }
  expect(kinds).toEqual([true, true, false, false])
  const selling = `${seller.steamId} is enrolled as an account that only sells. Restart the vault.`
  const collecting = `${seller.steamId} is enrolled as an account that collects deposits`
  expect(printed).toEqual([
    selling,
    selling,
    `${collecting}; before, it only sold. Restart the vault.`,
    `${collecting}. Restart the vault.`,
  ])
})

it('spaces around pasted secrets do not matter, and a secret in another form is refused before the login', async () => {
  const path = mkdtempSync(join(tmpdir(), 'vault-enrol-'))
  const steam = await startSteam({ port: 0, seed: 'vault', quotas: false })
  onTestFinished(async () => {
    await steam.close()
    rmSync(path, { recursive: true })
  })
  const seller = steam.change(findOrAddSeller)
  if (seller === undefined) throw new Error('there is no seller')
  const { accountName, password, sharedSecret, identitySecret } = credentialsOf(seller)
  const settings = readSettings({ TRADETILL_VAULT: path, TRADETILL_STEAM_SANDBOX_URL: steam.url })
  const enrolPasted = (...answers: string[]) => {
    const ask = async () => answers.shift() ?? ''
    return enrol(settings, { isPerson: true, print() {}, ask, lines: async () => [] }, { sells: true })
  }
  await enrolPasted(` ${accountName} `, password, `${sharedSecret} `, ` ${identitySecret}`)
  const folder = openFolder(path)
  expect(readAccounts(folder, openKey(folder))).toMatchObject([
    { sells: true, secrets: { accountName, sharedSecret, identitySecret } },
  ])
  const hex = Buffer.from(identitySecret, 'base64').toString('hex')
  const problem = 'The identity secret must be 20 bytes in base64'
  await expect(enrolPasted(accountName, 'a wrong password', sharedSecret, hex)).rejects.toThrow(problem)
})
