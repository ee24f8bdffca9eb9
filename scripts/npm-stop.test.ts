/** How a script under npm ends: real npm, its shell, the script, and a part of it that listens on a port. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { portProblem } from './children.ts'

const DEADLINE = { timeout: 60_000 }

/** Starts a part and stops it at the end, as start.ts does. */
const SCRIPT = `
  import { startChild } from ${JSON.stringify(join(import.meta.dirname, 'children.ts'))}
  const part = startChild({ name: 'part', file: 'part.mjs', env: {} })
  part.onLine((line) => console.log('script ' + process.pid + ', ' + line))
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => part.stop().then(() => process.exit(0)))
`
const PART = `
  import { createServer } from 'node:http'
  const server = createServer().listen(0, '127.0.0.1', () => {
    console.log('part ' + process.pid + ', port ' + server.address().port)
  })
  process.on('SIGTERM', () => server.close(() => process.exit(0)))
`

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tradetill-end-'))
  const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'))
  // The command begins as `npm start` of this project does, with `exec`.
  const [beginning = ''] = String(scripts.start).split('node ')
  const start = `${beginning}"${process.execPath}" --disable-warning=ExperimentalWarning script.ts`
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'end', type: 'module', scripts: { start } }),
  )
  writeFileSync(join(folder, 'script.ts'), SCRIPT)
  writeFileSync(join(folder, 'part.mjs'), PART)
})

afterAll(() => rmSync(folder, { recursive: true }))

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

type Started = { npm: ChildProcess; script: number; part: number; port: number }

async function startNpm(): Promise<Started> {
  const { npm_execpath: npmPath } = process.env
  const [command, ...args] = npmPath === undefined ? ['npm', 'start'] : [process.execPath, npmPath, 'start']
  const npm = spawn(command ?? '', args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  npm.stdout.on('data', (chunk) => (output += chunk))
  const read = () => /script (\d+), part (\d+), port (\d+)/.exec(output)?.slice(1).map(Number)
  await expect.poll(read, DEADLINE).toBeDefined()
  const [script = 0, part = 0, port = 0] = read() ?? []
  onTestFinished(() => {
    for (const pid of [script, part]) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  })
  return { npm, script, part, port }
}

it.each([
  ['SIGTERM', 'npm'],
  ['SIGINT', 'npm'],
  ['SIGTERM', 'the script'],
  ['SIGINT', 'the script'],
] as const)('%s to %s ends the script and its parts, and frees the port', async (signal, target) => {
  const { npm, script, part, port } = await startNpm()
  expect(await portProblem(port)).toBe('taken')
  process.kill(target === 'npm' ? (npm.pid ?? 0) : script, signal)
  await expect.poll(() => [script, part].filter(isAlive), DEADLINE).toEqual([])
  await expect.poll(() => npm.exitCode ?? npm.signalCode, DEADLINE).not.toBeNull()
  expect(await portProblem(port)).toBeUndefined()
})
