/** Runs the step before `npm start` in a folder without packages, with a fake npm and fake Nodes. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'

let root: string

/** A project with one package, in a folder with a difficult name. */
beforeEach(() => {
  root = join(tmpdir(), `a till & 100% ${crypto.randomUUID()}`)
  mkdirSync(join(root, 'scripts'), { recursive: true })
  copyFileSync(join(import.meta.dirname, 'ensure-deps.mjs'), join(root, 'scripts/ensure-deps.mjs'))
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify(LOCKED))
  writeNode('own-node', 'v24.21.0')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const LOCKED = { packages: { 'node_modules/one': { version: '1.0.0', integrity: 'sha512-one' } } }

function writeNode(path: string, version: string): void {
  writeFileSync(join(root, path), `#!/bin/sh\necho ${version}\n`, { mode: 0o755 })
}

type Npm = { node?: string; fails?: boolean; killsParent?: boolean }

/** A fake npm that installs the package and a Node of this version, once the file `gate` is gone. */
function writeNpm({ node, fails = false, killsParent = false }: Npm): void {
  const bin = join(root, 'node_modules/.bin/node')
  const lines = [
    `import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'`,
    `appendFileSync(${JSON.stringify(join(root, 'npm.log'))}, process.argv.slice(2).join(' ') + '\\n')`,
    ...(fails ? ['process.exit(1)'] : []),
    ...(killsParent ? [`process.kill(process.ppid, 'SIGKILL')`] : []),
    `while (existsSync(${JSON.stringify(join(root, 'gate'))})) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)`,
    `mkdirSync(${JSON.stringify(join(root, 'node_modules/one'))}, { recursive: true })`,
    `mkdirSync(${JSON.stringify(join(root, 'node_modules/.bin'))}, { recursive: true })`,
    `writeFileSync(${JSON.stringify(join(root, 'node_modules/.package-lock.json'))}, ${JSON.stringify(JSON.stringify(LOCKED))})`,
    ...(node === undefined
      ? []
      : [`writeFileSync(${JSON.stringify(bin)}, '#!/bin/sh\\necho ${node}\\n', { mode: 0o755 })`]),
  ]
  writeFileSync(join(root, 'npm.mjs'), lines.join('\n'))
}

const env = () => ({
  ...process.env,
  npm_execpath: join(root, 'npm.mjs'),
  npm_node_execpath: join(root, 'own-node'),
})
const SCRIPT = 'scripts/ensure-deps.mjs'
const installations = (): string[] =>
  existsSync(join(root, 'npm.log')) ? readFileSync(join(root, 'npm.log'), 'utf8').trim().split('\n') : []

function ensure(): { code: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT], {
    cwd: root,
    env: env(),
    encoding: 'utf8',
  })
  return { code: status, output: stdout + stderr }
}

it('packages are installed once, and later starts do not contact the registry', () => {
  writeNpm({ node: 'v24.21.0' })
  expect(ensure()).toMatchObject({ code: 0, output: expect.stringContaining('once') })
  expect(ensure()).toEqual({ code: 0, output: '' })
  expect(installations()).toHaveLength(1)
})

it('an unreachable registry is reported, and the next start tries again', () => {
  writeNpm({ fails: true })
  expect(ensure()).toMatchObject({ code: 1, output: expect.stringContaining('Check the connection') })
  writeNpm({ node: 'v24.21.0' })
  expect(ensure().code).toBe(0)
})

it('one of two simultaneous runs installs, and the other waits', async () => {
  writeNpm({ node: 'v24.21.0' })
  writeFileSync(join(root, 'gate'), '')
  const start = (): ChildProcess => spawn(process.execPath, [SCRIPT], { cwd: root, env: env() })
  const starts = [start(), start()]
  const ends = starts.map((child) => once(child, 'exit'))
  const waits = starts.map((child) => once(child.stdout ?? child, 'data').then(([chunk]) => String(chunk)))
  expect((await Promise.all(waits)).sort().join()).toMatch(/Another process.*Installing/s)
  rmSync(join(root, 'gate'))
  expect(await Promise.all(ends)).toEqual([
    [0, null],
    [0, null],
  ])
  expect(installations()).toHaveLength(1)
})

it('a killed installation does not block the next', () => {
  writeNpm({ killsParent: true })
  expect(ensure().code).toBeNull()
  writeNpm({ node: 'v24.21.0' })
  expect(ensure().code).toBe(0)
})

/**
 * A module, loaded before the script, that records each read of a lock in `reads.log`, and then waits while the file
 * `hold` is there.
 */
function writeSlowReader(): string {
  const file = join(root, 'slow-reader.mjs')
  const lines = [
    `import fs from 'node:fs'`,
    `import { syncBuiltinESMExports } from 'node:module'`,
    `const { readFileSync } = fs`,
    `fs.readFileSync = (path, ...rest) => {`,
    `  const content = readFileSync(path, ...rest)`,
    `  if (!String(path).includes('tradetill-install-')) return content`,
    `  fs.appendFileSync(${JSON.stringify(join(root, 'reads.log'))}, content + '\\n')`,
    `  while (fs.existsSync(${JSON.stringify(join(root, 'hold'))})) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)`,
    `  return content`,
    `}`,
    `syncBuiltinESMExports()`,
  ]
  writeFileSync(file, lines.join('\n'))
  return pathToFileURL(file).href
}

it('a start that slowly removes a killed installation’s lock does not remove a quicker start’s lock', async () => {
  writeNpm({ killsParent: true })
  expect(ensure().code).toBeNull()
  rmSync(join(root, 'npm.log'))
  rmSync(join(root, 'node_modules'), { recursive: true, force: true })
  writeNpm({ node: 'v24.21.0' })
  for (const file of ['gate', 'hold']) writeFileSync(join(root, file), '')
  const start = (...options: string[]) =>
    spawn(process.execPath, [...options, SCRIPT], { cwd: root, env: env() })
  const linesOf = (file: string): string[] =>
    existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8').trim().split('\n') : []

  const slow = start('--import', writeSlowReader())
  await expect.poll(() => linesOf('reads.log')).toHaveLength(1)
  const quick = start()
  await expect.poll(installations).toHaveLength(1)
  const ends = [slow, quick].map((child) => once(child, 'exit'))
  rmSync(join(root, 'hold'))
  // The slow one then either reads the lock of the quick one, or installs too.
  const [ofKilled] = linesOf('reads.log')
  const hasContinued = () => linesOf('reads.log').at(-1) !== ofKilled || installations().length > 1
  await expect.poll(hasContinued).toBe(true)
  rmSync(join(root, 'gate'))
  expect(await Promise.all(ends)).toEqual([
    [0, null],
    [0, null],
  ])
  expect(installations()).toHaveLength(1)
})

it.each([
  ['the packaged Node is used if it is current', 'v24.21.0', 'v20.9.0', '', true],
  ['the machine’s Node is used if the packaged one is old', 'v24.0.0', 'v24.21.0', '', false],
  ['the machine’s Node 26 is used if the packaged one is old', 'v24.0.0', 'v26.10.0', '', false],
  [
    'the packaged Node is used, with advice, if it is old and the machine’s is older',
    'v24.0.0',
    'v20.9.0',
    'nodejs.org',
    true,
  ],
  ['the machine’s Node is used if the packages contain none', undefined, 'v26.10.0', '', false],
])('%s', (_title, packaged, machine, advice, usesPackaged) => {
  writeNpm(packaged === undefined ? {} : { node: packaged })
  writeNode('own-node', machine)
  const { code, output } = ensure()
  expect(code).toBe(0)
  expect(output).toContain(advice)
  expect(output.includes('nodejs.org')).toBe(advice !== '')
  expect(existsSync(join(root, 'node_modules/.bin/node'))).toBe(usesPackaged)
})

it('without a suitable Node, the start prints which version it needs', () => {
  writeNpm({})
  writeNode('own-node', 'v22.23.2')
  expect(ensure()).toMatchObject({
    code: 1,
    output: expect.stringMatching(/Node 24 or newer.*finds 22\.23\.2/),
  })
})
