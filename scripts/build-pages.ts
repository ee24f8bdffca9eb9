/** Builds the pages of shoppers and operators if their sources have changed since the last build. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

type Page = { folder: 'widget' | 'console'; sources: readonly string[] }

const SHARED = ['contract/**/*.ts', 'package-lock.json']
const WIDGET: Page = { folder: 'widget', sources: ['widget/**/*', ...SHARED] }
const CONSOLE: Page = {
  folder: 'console',
  sources: [
    ...['console/**/*', 'gateway/operations/item-states.ts', 'widget/styles/*', 'widget/vite.config.ts'],
    ...SHARED,
  ],
}

export const PAGES: readonly Page[] = [WIDGET, CONSOLE]

/** Resolves once widget/dist is up to date. If the build fails, throws with its output. */
export const buildWidgetIfChanged = (): Promise<void> => buildIfChanged(WIDGET)

/** Resolves once console/dist is up to date. If the build fails, throws with its output. */
export const buildConsoleIfChanged = (): Promise<void> => buildIfChanged(CONSOLE)

async function buildIfChanged(page: Page): Promise<void> {
  const stampFile = join(ROOT, page.folder, 'dist/.built-from')
  const hash = hashOf(page)
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === hash) return
  await runBuild(page)
  writeFileSync(stampFile, hash)
}

/** Returns the full paths of a page's sources, sorted. */
export const filesOf = ({ sources }: Page): string[] =>
  globSync([...sources], {
    cwd: ROOT,
    withFileTypes: true,
    exclude: (entry) => entry.name === 'dist',
  })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()

function hashOf(page: Page): string {
  const hash = createHash('sha256')
  for (const file of filesOf(page)) hash.update(file.slice(ROOT.length)).update(readFileSync(file))
  return hash.digest('hex')
}

function runBuild({ folder }: Page): Promise<void> {
  const vite = join(ROOT, 'node_modules/vite/bin/vite.js')
  const child = spawn(process.execPath, [vite, 'build', '--config', `${folder}/vite.config.ts`], {
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
      else reject(new Error(`The ${folder} did not build:\n${Buffer.concat(output).toString()}`))
    })
  })
}
