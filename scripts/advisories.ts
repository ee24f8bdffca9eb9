/**
 * `node scripts/advisories.ts` asks npm for known advisories on the locked packages, and adds them to advisories.json.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { advisoriesSchema, findingsIn, lockSchema, withReport } from './supply-chain.ts'

const ROOT = join(import.meta.dirname, '..')
const FILE = join(import.meta.dirname, 'advisories.json')
const readJson = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'))

const { stdout, stderr } = spawnSync('npm', ['audit', '--json', '--package-lock-only'], {
  cwd: ROOT,
  encoding: 'utf8',
  shell: process.platform === 'win32',
})
const report: unknown = JSON.parse(stdout || '{}')
if (typeof report !== 'object' || report === null || !('vulnerabilities' in report)) {
  console.error(`npm gave no report, so advisories.json is unchanged.\n${stderr}`)
  process.exit(1)
}
const updated = withReport(
  advisoriesSchema.parse(readJson(FILE)),
  report,
  new Date().toISOString().slice(0, 10),
)
writeFileSync(FILE, `${JSON.stringify(updated, null, 2)}\n`)
const found = findingsIn(lockSchema.parse(readJson(join(ROOT, 'package-lock.json'))), updated)
for (const { package: name, version, id, severity, title, isAccepted } of found)
  console.log(`${isAccepted ? 'accepted' : 'OPEN'}: ${name} ${version}, ${severity}: ${title} (${id})`)
console.log(`${updated.advisories.length} advisories as of ${updated.asOf}.`)
if (found.some(({ isAccepted }) => !isAccepted)) process.exitCode = 1
