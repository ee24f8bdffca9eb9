import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const INSTALL_MS = 180_000

/** Installs `spec` (`name@version`) into a folder that exists only until `use` has ended. */
export async function withPackage<T>(spec: string, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'tradetill-package-'))
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts']
  try {
    await promisify(execFile)('npm', ['install', ...quiet, '--prefix', folder, spec], {
      timeout: INSTALL_MS,
    })
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
