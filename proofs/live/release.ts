/** A release of this tree, made and unpacked as an operator would, and its processes. */
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'

const ROOT = join(import.meta.dirname, '../..')
/** The number of the account `nobody`. */
const NOBODY = 65_534

/**
 * Makes a repository whose only commit has all files of this tree that git tracks or would add. It links to this tree's
 * packages and has a copy of its built pages; the release builds the pages again if their sources differ.
 */
export function cleanClone(folder: string): string {
  const clone = join(folder, 'a clone')
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  for (const file of listed.split('\0').filter((name) => name !== '' && existsSync(join(ROOT, name)))) {
    mkdirSync(dirname(join(clone, file)), { recursive: true })
    cpSync(join(ROOT, file), join(clone, file))
  }
  for (const page of ['widget/dist', 'console/dist'])
    cpSync(join(ROOT, page), join(clone, page), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
  const author = ['-c', 'user.name=Tradetill', '-c', 'user.email=tradetill@example.invalid']
  for (const args of [
    ['init', '-q'],
    ['add', '-A'],
    [...author, 'commit', '-q', '-m', 'release: the working tree'],
  ]) {
    execFileSync('git', args, { cwd: clone })
  }
  return clone
}

export function makeRelease(clone: string, into: string): string {
  const release = join(clone, 'scripts/release.ts')
  return execFileSync(process.execPath, [release, into], {
    cwd: clone,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** Unpacks the archive with the system's tar into an empty folder, checks it, and makes everything read-only. */
export function unpack(archive: string, into: string): string {
  mkdirSync(into)
  execFileSync('tar', ['-xzf', archive, '-C', into])
  const [name = ''] = readdirSync(into)
  const folder = join(into, name)
  execFileSync('sha256sum', ['--check', '--quiet', '--strict', 'SHA256SUMS'], { cwd: folder })
  execFileSync('chmod', ['-R', 'a-w,a+rX', into])
  return folder
}

/** Makes the folder writable again, so it can be removed. */
export function unlock(folder: string): void {
  execFileSync('chmod', ['-R', 'u+w', folder])
}

export type Process = { ended: Promise<number | null>; output(): string; kill(signal: NodeJS.Signals): void }

type Command = { args: string[]; env: Record<string, string>; cwd: string }

/** Starts `bin/tradetill`. If this process is root, runs it as an account that does not own it. */
function start(folder: string, { args, env, cwd }: Command) {
  const isRoot = process.getuid?.() === 0
  chmodSync(cwd, 0o755)
  return spawn(join(folder, 'bin/tradetill'), args, {
    cwd,
    // Only the system's commands and Node.
    env: { NODE_ENV: 'production', PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, ...env },
    ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
  })
}

export function serve(folder: string, command: Omit<Command, 'args'>): Process {
  const child = start(folder, { ...command, args: ['serve'] })
  const output: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(String(chunk)))
  return {
    ended: new Promise((resolve) => child.once('close', resolve)),
    output: () => output.join(''),
    kill: (signal) => void child.kill(signal),
  }
}

/** Resolves to the command's output. Throws with its errors if it fails. */
export async function tradetill(folder: string, command: Command & { input?: string }): Promise<string> {
  const child = start(folder, command)
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  // The command may fail before it has read its input.
  child.stdin.on('error', () => {})
  child.stdin.end(command.input ?? '')
  const [out, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  if (code !== 0) throw new Error(`${command.args.join(' ')} ended with ${code}: ${errors}`)
  return out
}
