/**
 * `npm run -s vault -- COMMAND`: runs a command of the sandbox's vault while `npm start` runs, with the vault's settings
 * and as its user.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { runningDatabase } from '../gateway/db/connection-file.ts'
import { placeOfVault, type VaultPlace } from './vault.ts'

const { env } = process

/** Throws if `npm start` has not set the vault up, or does not run. */
function findVault(): VaultPlace {
  if (env.TRADETILL_MODE === 'live') {
    throw new Error(
      'In live mode the vault has an account of its own: run its commands there (docs/selling.md).',
    )
  }
  const dataRoot = resolve(env.TRADETILL_DATA_ROOT || join(import.meta.dirname, '../.data'))
  const gatewayData = join(dataRoot, 'gateway')
  const running = runningDatabase(gatewayData)
  const hasDatabase = running !== undefined || env.TRADETILL_VAULT_DATABASE_URL !== undefined
  if (!hasDatabase || !existsSync(join(dataRoot, 'vault'))) {
    throw new Error(
      `No vault runs on ${dataRoot}. Run npm start, and wait until it says that the vault runs.`,
    )
  }
  const localhost = (port: string): string => `http://localhost:${port}`
  return placeOfVault({
    dataRoot,
    gatewayData,
    sandboxUrl: running?.steamSandboxUrl ?? localhost(env.STEAM_SANDBOX_PORT || '4301'),
    marketUrl: localhost(env.MARKET_SANDBOX_PORT || '4303'),
  })
}

async function runCommand({ file, env: settings, account }: VaultPlace): Promise<number> {
  const options = { ...account, env: { ...env, ...settings }, stdio: 'inherit' } as const
  const child = spawn(process.execPath, [file, ...process.argv.slice(2)], options)
  const [code] = await once(child, 'exit')
  return typeof code === 'number' ? code : 1
}

try {
  process.exitCode = await runCommand(findVault())
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
