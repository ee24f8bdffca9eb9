import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { connectionFileOf } from '../db/connection-file.ts'
import { databaseUrlOf } from './settings.ts'

const URL_OF = 'postgres://till@127.0.0.1:15000/tradetill'
const MOVED = 'http://localhost:4401'
const folders: string[] = []

/** A data folder with a running gateway whose Steam sandbox has this URL. */
function runningOn(steamSandboxUrl?: string): { TRADETILL_DATA: string } {
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-settings-'))
  folders.push(folder)
  const connection = { url: URL_OF, ownerUrl: URL_OF, vaultUrl: URL_OF, steamSandboxUrl }
  writeFileSync(connectionFileOf(folder), JSON.stringify(connection))
  return { TRADETILL_DATA: folder }
}

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

describe('a command finds the Steam sandbox', () => {
  const sandboxFor = (env: Record<string, string>) => databaseUrlOf(env).config.steamSandboxUrl

  it('of the gateway that runs on its data folder, whatever its port', () => {
    expect(sandboxFor(runningOn(MOVED))).toBe(MOVED)
  })

  it('that a setting names, rather than the gateway’s', () => {
    const env = { ...runningOn(MOVED), TRADETILL_STEAM_SANDBOX_URL: 'http://127.0.0.1:4501' }
    expect(sandboxFor(env)).toBe('http://127.0.0.1:4501')
  })

  it('at the default URL if the gateway names none, or if another database is used', () => {
    expect(sandboxFor(runningOn())).toBe('http://127.0.0.1:4301')
    expect(sandboxFor({ ...runningOn(MOVED), DATABASE_URL: URL_OF })).toBe('http://127.0.0.1:4301')
  })
})
