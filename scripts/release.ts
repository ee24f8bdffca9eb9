/**
 * `npm run release`: builds `tradetill-VERSION-COMMIT.tgz` and its checksum into `release/`, or into the given folder.
 * The archive holds the server, the vault, the built pages and the packages of both programs. Needs a clean work tree,
 * but no network.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { type Build, ourBuild } from '../gateway/db/build.ts'
import { archiveOf, type Entry } from './archive.ts'
import { buildConsoleIfChanged, buildWidgetIfChanged } from './build-pages.ts'
import { optionsOfProcess } from './options.ts'
import {
  billOf,
  differentPackages,
  filesOfPackage,
  type ProductionPackage,
  productionPackages,
  readLock,
} from './release-packages.ts'

const ROOT = join(import.meta.dirname, '..')

/** Files that a release copies from the tree. */
const SHIPPED = [
  /^bin\//,
  /^contract\/(?!testing\/)(?!.*\.test\.ts$).*\.ts$/,
  /^gateway\/(?!testing\/)(?!.*\.test\.ts$)/,
  /^vault\/(?!testing\/)(?!.*\.test\.ts$)/,
  /^deploy\//,
  /^docs\/(?:decisions\/)?[\w-]+\.md$/,
  /^(?:LICENSE|README\.md|CHANGELOG\.md|SECURITY\.md|\.env\.example)$/,
]

const COMMIT_DIGITS = 8

class Refusal extends Error {}

const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trimEnd()

function checkClean(): void {
  const changes = git('status', '--porcelain')
  if (changes !== '') {
    throw new Refusal(`A release is built from a commit. Commit or remove these changes first:\n${changes}`)
  }
}

function findPackages(): ProductionPackage[] {
  const packages = productionPackages(readLock(join(ROOT, 'package-lock.json')))
  const different = differentPackages(packages, readLock(join(ROOT, 'node_modules/.package-lock.json')))
  if (different.length > 0) {
    throw new Refusal(
      `These packages differ from package-lock.json: ${different.join(', ')}. Run npm ci first.`,
    )
  }
  return packages
}

const packageSchema = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  license: z.string(),
})

/** The release's package.json. It lists no scripts and no packages, because nothing is installed in that folder. */
function packageFile(): string {
  const ours = packageSchema.parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')))
  const more = {
    private: true,
    type: 'module',
    engines: { node: '>=24' },
    bin: { tradetill: 'bin/tradetill.mjs' },
  }
  return `${JSON.stringify({ ...ours, ...more }, null, 2)}\n`
}

const textEntry = (path: string, content: string): Entry => ({
  kind: 'file',
  path,
  content: Buffer.from(content),
})

const fileEntry = (path: string): Entry => {
  const content = readFileSync(join(ROOT, path))
  return { kind: 'file', path, content, isExecutable: content.subarray(0, 2).toString() === '#!' }
}

function entriesOf(packages: readonly ProductionPackage[], build: Build): Entry[] {
  const sources = git('ls-files')
    .split('\n')
    .filter((file) => SHIPPED.some((shipped) => shipped.test(file)))
  const pages = globSync(['widget/dist/**/*', 'console/dist/**/*'], { cwd: ROOT, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name).slice(ROOT.length + 1))
  const entries: Entry[] = [
    ...sources.map(fileEntry),
    ...pages.map(fileEntry),
    ...packages.flatMap((each) => filesOfPackage(ROOT, each)),
    textEntry('package.json', packageFile()),
    textEntry('release.json', `${JSON.stringify(build, null, 2)}\n`),
    textEntry('sbom.cdx.json', billOf(packages, build.version)),
    { kind: 'link', path: 'bin/tradetill', target: 'tradetill.mjs' },
  ]
  return [...entries, textEntry('SHA256SUMS', sumsOf(entries))]
}

const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex')

function sumsOf(entries: readonly Entry[]): string {
  const lines = entries.flatMap((entry) =>
    entry.kind === 'file' ? [`${sha256(entry.content)}  ${entry.path}\n`] : [],
  )
  return lines.join('')
}

async function release(folder: string): Promise<void> {
  checkClean()
  const packages = findPackages()
  await buildWidgetIfChanged()
  await buildConsoleIfChanged()
  const build = { ...ourBuild(), commit: git('rev-parse', 'HEAD') }
  // The commit is part of the name, so builds of two commits never share a folder.
  const name = `tradetill-${build.version}-${build.commit.slice(0, COMMIT_DIGITS)}`
  const inFolder = entriesOf(packages, build).map((entry) => ({ ...entry, path: `${name}/${entry.path}` }))
  const archive = archiveOf(inFolder, Number(git('log', '-1', '--format=%ct')))
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${name}.tgz`), archive)
  writeFileSync(join(folder, `${name}.tgz.sha256`), `${sha256(archive)}  ${name}.tgz\n`)
  const megabytes = (archive.length / 1_000_000).toFixed(1)
  console.log(
    `${join(folder, `${name}.tgz`)}: ${inFolder.length} entries, ${packages.length} packages, ${megabytes} MB`,
  )
}

const { others } = optionsOfProcess({ command: 'npm run release', flags: {}, others: 'FOLDER' })
await release(resolve(others[0] ?? join(ROOT, 'release'))).catch((error: unknown) => {
  console.error(error instanceof Refusal ? error.message : error)
  process.exitCode = 1
})
