/**
 * Runs before `npm start`, `npm test` and `npm run release` on the installed Node (20 or newer): installs the
 * packages if they differ from package-lock.json, and makes sure that the next step runs on Node 24 or newer.
 */
import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const NEEDED_NODE = 24
/**
 * The lowest acceptable version of Node from npm; older ones lack security updates. For Apple's arm64, npm has only
 * 24.0.
 */
const LOWEST_PACKAGED_NODE = [24, 13, 0]
const RETRY_EVERY_MS = 500
/**
 * Installs the versions of the lock file, does not change it, and runs no package's scripts. Warnings about this Node
 * can be ignored, because the project runs on another one.
 */
const INSTALL = [
  ...['install', '--no-save', '--ignore-scripts', '--loglevel=error'],
  // The page is built here, so NODE_ENV=production must not omit the build's packages.
  ...['--include=dev', '--include=optional'],
]

function packagesIn(file) {
  try {
    return JSON.parse(readFileSync(join(ROOT, file), 'utf8')).packages
  } catch {
    return undefined
  }
}

/**
 * True if npm's record of the installed packages equals the lock file and their folders exist (a folder removed by
 * hand stays in the record). Optional packages may be for other machines. An entry without a version is a link or its
 * target, whose folder is not checked.
 */
function isInstalled() {
  const wanted = packagesIn('package-lock.json')
  const present = packagesIn('node_modules/.package-lock.json')
  if (wanted === undefined || present === undefined) return false
  return Object.entries(wanted).every(([path, { version, integrity, optional }]) => {
    if (!path.startsWith('node_modules/')) return true
    const installed = present[path]
    if (installed === undefined) return optional === true
    return (
      installed.version === version &&
      installed.integrity === integrity &&
      (version === undefined || existsSync(join(ROOT, path)))
    )
  })
}

/** Not `npm ci`, which removes every package first, even if only one is missing. */
function install() {
  console.log('Installing the packages of package-lock.json (once, about half a minute) …')
  const npm = process.env.npm_execpath
  const [command, ...args] = npm === undefined ? ['npm', ...INSTALL] : [process.execPath, npm, ...INSTALL]
  const { status } = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit' })
  if (status !== 0)
    fail(
      'The packages could not be installed; npm’s message above says why. Check the connection and try again.',
    )
}

/** Makes a second installation wait for the first, because two at once would corrupt the folder. */
function installAlone() {
  const file = join(
    tmpdir(),
    `tradetill-install-${createHash('sha256').update(ROOT).digest('hex').slice(0, 16)}.pid`,
  )
  let hasAnnounced = false
  while (!takeLock(file)) {
    if (!hasAnnounced) console.log('Another process is installing the packages here. Waiting for it …')
    hasAnnounced = true
    // Sleeps: this script has no asynchronous parts.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_EVERY_MS)
  }
  try {
    if (!isInstalled()) install()
  } finally {
    rmSync(file, { force: true })
  }
}

/**
 * Takes the lock and returns true. Otherwise returns false, and removes the lock if its process has ended, so the next
 * attempt succeeds. The file is linked into place with its content, because an empty file would look like the lock of a
 * process that has ended. The content is different for every lock, because process ids are reused.
 */
function takeLock(file) {
  const holder = `${process.pid}-${randomBytes(6).toString('hex')}`
  const ownFile = `${file}.${holder}`
  try {
    writeFileSync(ownFile, holder)
    linkSync(ownFile, file)
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') fail(`The file ${file} cannot be written (${error.message}).`)
  } finally {
    rmSync(ownFile, { force: true })
  }
  const content = contentOf(file)
  if (content !== undefined && !isAlive(Number.parseInt(content, 10))) removeLock(file, content)
  return false
}

/**
 * Removes the lock of a process that has ended. Only the holder of a lock for this removal may do it: another process
 * that read the same content earlier would otherwise remove the lock that somebody has taken since.
 */
function removeLock(file, content) {
  const removal = `${file}.without-${content}`
  if (!takeLock(removal)) return
  try {
    if (contentOf(file) === content) rmSync(file, { force: true })
  } catch (error) {
    fail(
      `The file ${file} is left from an installation that was ended, and cannot be removed (${error.message}). Remove it.`,
    )
  } finally {
    rmSync(removal, { force: true })
  }
}

function contentOf(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

function isAlive(pid) {
  try {
    return pid > 0 && process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/**
 * Chooses the Node for the next step. The packaged Node does not run everywhere (musl), and is old on some machines.
 * The machine's own Node then replaces it, unless that is too old or no newer than the packaged one.
 */
function chooseNode() {
  const packagedNode = join(ROOT, 'node_modules/.bin/node')
  const packagedVersion = versionOf(packagedNode)
  if (packagedVersion !== undefined && !isOlder(packagedVersion, LOWEST_PACKAGED_NODE)) return
  const machineVersion = versionOf(process.env.npm_node_execpath ?? 'node')
  if (
    machineVersion !== undefined &&
    machineVersion[0] >= NEEDED_NODE &&
    (packagedVersion === undefined || isOlder(packagedVersion, machineVersion))
  ) {
    rmSync(packagedNode, { force: true })
    return
  }
  if (packagedVersion !== undefined) {
    console.log(
      `This runs on Node ${packagedVersion.join('.')}, the newest Node ${NEEDED_NODE} that npm has for this machine. It is enough to look around.\nFor its security updates install a current Node ${NEEDED_NODE} from https://nodejs.org: the next start uses it.`,
    )
    return
  }
  rmSync(packagedNode, { force: true })
  fail(
    `Tradetill needs Node ${NEEDED_NODE} or newer here, and finds ${machineVersion?.join('.') ?? 'none'}. Install it from https://nodejs.org.`,
  )
}

function isOlder(version, other) {
  const at = version.findIndex((number, index) => number !== other[index])
  return at >= 0 && version[at] < other[at]
}

function versionOf(command) {
  const { status, stdout } = spawnSync(command, ['--version'], { encoding: 'utf8' })
  const version = /^v(\d+)\.(\d+)\.(\d+)/.exec(stdout ?? '')
  return status === 0 && version !== null ? version.slice(1).map(Number) : undefined
}

/**
 * `npm start` begins with `exec`, so npm's signals reach the script and not a shell that keeps them. The shell of
 * Windows has no `exec`, so this adds a command of that name.
 */
function provideExec() {
  if (process.platform === 'win32') writeFileSync(join(ROOT, 'node_modules/.bin/exec.cmd'), '@%*\r\n')
}

function fail(message) {
  console.error(message)
  process.exit(1)
}

if (!isInstalled()) installAlone()
chooseNode()
provideExec()
