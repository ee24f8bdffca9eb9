/** Builds the widget when its sources changed since the last build. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const STAMP = join(ROOT, 'widget/dist/.built-from')
const SOURCES = ['widget/**/*', 'contract/*.ts', 'package-lock.json']

/** Resolves once widget/dist is up to date; throws with the build's output when it fails. */
export async function buildWidgetIfChanged(): Promise<void> {
  const hash = hashOfSources()
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === hash) return
  await runBuild()
  writeFileSync(STAMP, hash)
}

function hashOfSources(): string {
  const files = globSync(SOURCES, {
    cwd: ROOT,
    withFileTypes: true,
    exclude: (entry) => entry.name === 'dist',
  })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  const hash = createHash('sha256')
  for (const file of files) hash.update(file.slice(ROOT.length)).update(readFileSync(file))
  return hash.digest('hex')
}

function runBuild(): Promise<void> {
  const vite = join(ROOT, 'node_modules/vite/bin/vite.js')
  const child = spawn(process.execPath, [vite, 'build', '--config', 'widget/vite.config.ts'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const output: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0) resolve()
      else reject(new Error(`The widget did not build:\n${Buffer.concat(output).toString()}`))
    })
  })
}
