import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { connectionFileOf, type GatewayAddresses } from '../db/connection-file.ts'
import { claimDatabase } from '../db/identity.ts'
import type { Finding } from '../doctor/finding.ts'
import { fingerprintOf } from '../kit/secret-box.ts'
import { makeOwnKey } from '../master-key.ts'
import { runCommand } from '../testing/command.ts'
import { testDatabase } from '../testing/database.ts'
import { settingsWithDatabase } from './settings.ts'

const TILL_DATABASE_URL = 'postgres://till@127.0.0.1:15000/tradetill'
const MOVED_SANDBOX_URL = 'http://localhost:4401'
const folders: string[] = []

/** Makes the data folder of a running gateway whose Steam sandbox has this URL. Returns the setting for that folder. */
function runningGateway(
  steamSandboxUrl?: string,
  addresses: GatewayAddresses = {},
): { TRADETILL_DATA: string } {
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-settings-'))
  folders.push(folder)
  const connection = {
    url: TILL_DATABASE_URL,
    ownerUrl: TILL_DATABASE_URL,
    vaultUrl: TILL_DATABASE_URL,
    steamSandboxUrl,
    ...addresses,
  }
  writeFileSync(connectionFileOf(folder), JSON.stringify(connection))
  return { TRADETILL_DATA: folder }
}

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

describe('a command finds the Steam sandbox', () => {
  const sandboxFor = (env: Record<string, string>) => settingsWithDatabase(env).config.steamSandboxUrl

  it('of the gateway that runs on the data folder of the command, at any port', () => {
    expect(sandboxFor(runningGateway(MOVED_SANDBOX_URL))).toBe(MOVED_SANDBOX_URL)
  })

  it('that a setting names, not the gateway’s sandbox', () => {
    const env = { ...runningGateway(MOVED_SANDBOX_URL), TRADETILL_STEAM_SANDBOX_URL: 'http://127.0.0.1:4501' }
    expect(sandboxFor(env)).toBe('http://127.0.0.1:4501')
  })

  it('at the default URL if the gateway names none, or if DATABASE_URL is set', () => {
    expect(sandboxFor(runningGateway())).toBe('http://127.0.0.1:4301')
    expect(sandboxFor({ ...runningGateway(MOVED_SANDBOX_URL), DATABASE_URL: TILL_DATABASE_URL })).toBe(
      'http://127.0.0.1:4301',
    )
  })
})

describe('a command finds the console and the public address', () => {
  const place = { url: 'http://localhost:4404/', host: '127.0.0.1', port: 4404 }
  const gateway = () => runningGateway(undefined, { publicUrl: 'http://localhost:4400/', console: place })
  const addressesFor = (env: Record<string, string>) => {
    const { config } = settingsWithDatabase(env)
    return [config.publicUrl.origin, config.console?.url.origin]
  }

  it('of the gateway that runs on the data folder of the command, at any ports', () => {
    expect(addressesFor(gateway())).toEqual(['http://localhost:4400', 'http://localhost:4404'])
    expect(addressesFor(runningGateway())).toEqual(['http://localhost:4300', undefined])
  })

  it('that a setting names, not the gateway’s console', () => {
    const env = { ...gateway(), TRADETILL_CONSOLE_PORT: '4504' }
    expect(addressesFor(env)).toEqual(['http://localhost:4400', 'http://localhost:4504'])
  })
})

it('the doctor examines the embedded database of the gateway on its data folder, as the till’s role and as the owner', async () => {
  const database = await testDatabase()
  onTestFinished(() => database.close())
  const env = runningGateway()
  const key = makeOwnKey(env.TRADETILL_DATA)
  await claimDatabase(database.pool, { mode: 'sandbox', keyFingerprint: fingerprintOf(key) })
  const { url } = database
  writeFileSync(
    connectionFileOf(env.TRADETILL_DATA),
    JSON.stringify({ url, ownerUrl: url, vaultUrl: url, publicUrl: 'http://127.0.0.1:9/' }),
  )
  const { out } = await runCommand(['doctor', '--json'], { env })
  const findings: Finding[] = JSON.parse(out).findings
  const stateOf = (name: string) => findings.find(({ check }) => check === name)?.state
  expect(stateOf('database.identity')).toBe('good')
  // The doctor compares two roles and finds that they are the same: this database has only one.
  expect(findings.find(({ check }) => check === 'database.rights')?.says).toContain('of DATABASE_URL')
  expect(findings.filter(({ says }) => says.includes('DATABASE_URL or no master key'))).toEqual([])
})
