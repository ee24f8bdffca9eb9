/**
 * Runs before `npm start` and `npm test` on whatever Node is there (20 or newer): installs the packages when they are
 * not those of package-lock.json, and makes sure that what follows runs on Node 24.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..')
const NEEDED_NODE = 24
/**
 * Keeps to the versions of the lock file and leaves it as it is, and runs no script of a package. Warnings about this Node
 * say nothing: another one runs.
 */
const INSTALL = [
  ...['install', '--no-save', '--ignore-scripts', '--loglevel=error'],
  // The page is built here, so NODE_ENV=production must not leave out what builds it.
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
 * True when npm's own note of what it installed agrees with the lock file and the folders are there (a folder that was
 * removed by hand stays in the note). Optional ones may be of other machines, and what has no version is the target of a
 * link, which npm makes no folder for.
 */
function isInstalled() {
  const wanted = packagesIn('package-lock.json')
  const present = packagesIn('node_modules/.package-lock.json')
  if (wanted === undefined || present === undefined) return false
  return Object.entries(wanted).every(([path, { version, integrity, optional }]) => {
    if (!path.startsWith('node_modules/')) return true
    const there = present[path]
    if (there === undefined) return optional === true
    return (
      there.version === version &&
      there.integrity === integrity &&
      (version === undefined || existsSync(join(ROOT, path)))
    )
  })
}

/** Not `npm ci`: that removes every package first, even where only one is missing. */
function install() {
  console.log('Installing the packages of package-lock.json (once, about half a minute) …')
  const npm = process.env.npm_execpath
  const [command, ...args] = npm === undefined ? ['npm', ...INSTALL] : [process.execPath, npm, ...INSTALL]
  const { status } = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit' })
  if (status !== 0)
    fail('The packages could not be installed; npm says above why. Check the connection and try again.')
}

/** The Node that comes as a package does not run everywhere (musl): then the one of the machine must do. */
function checkNode() {
  const pinned = join(ROOT, 'node_modules/.bin/node')
  const ofPackage = major(pinned)
  if (ofPackage === undefined) rmSync(pinned, { force: true })
  const found = ofPackage ?? major('node')
  if (found === undefined || found < NEEDED_NODE) {
    fail(
      `Tradetill needs Node ${NEEDED_NODE} or newer here, and finds ${found ?? 'none'}. Install it from https://nodejs.org.`,
    )
  }
}

function major(command) {
  const { status, stdout } = spawnSync(command, ['--version'], { encoding: 'utf8' })
  const number = Number(/^v(\d+)\./.exec(stdout ?? '')?.[1])
  return status === 0 && Number.isInteger(number) ? number : undefined
}

function fail(message) {
  console.error(message)
  process.exit(1)
}

if (!isInstalled()) install()
checkNode()
