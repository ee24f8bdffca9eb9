/** Packs the package for stores: `node scripts/sdk.ts` writes it to release/. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

/** Compiles the package and packs it with npm. Returns the path of the archive. */
export function packSdk(into: string): string {
  const work = mkdtempSync(join(tmpdir(), 'tradetill-sdk-'))
  try {
    const tsc = join(ROOT, 'node_modules/.bin/tsc')
    execFileSync(tsc, ['-p', join(ROOT, 'sdk'), '--outDir', join(work, 'dist')], { encoding: 'utf8' })
    for (const file of ['package.json', 'README.md']) cpSync(join(ROOT, 'sdk', file), join(work, file))
    cpSync(join(ROOT, 'LICENSE'), join(work, 'LICENSE'))
    mkdirSync(into, { recursive: true })
    const report = execFileSync('npm', ['pack', '--offline', '--json', '--pack-destination', into], {
      cwd: work,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const [{ filename }] = JSON.parse(report) as [{ filename: string }]
    return join(into, filename)
  } finally {
    rmSync(work, { recursive: true })
  }
}

if (import.meta.main) console.log(packSdk(join(ROOT, 'release')))
