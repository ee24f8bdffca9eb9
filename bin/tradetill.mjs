#!/usr/bin/env node
/**
 * The command of a release: `tradetill serve` and the operator's commands. Node 13.2 and newer can run this file,
 * so an old Node prints which version is needed instead of a syntax error.
 */
const NEEDED_NODE = 24

function refuse(message) {
  console.error(message)
  process.exit(2)
}

const found = Number(process.versions.node.split('.')[0])
if (found < NEEDED_NODE) {
  refuse(
    `Tradetill needs Node ${NEEDED_NODE} or newer, and ${process.execPath} is ${process.version}. Install it from https://nodejs.org, or put a newer one first in PATH.`,
  )
}

/** `--env-file FILE` before the command: settings, one `NAME=value` a line. The environment takes precedence. */
if (process.argv[2] === '--env-file') {
  const [, file] = process.argv.splice(2, 2)
  if (file === undefined) refuse('--env-file needs the path of a file with settings.')
  try {
    process.loadEnvFile(file)
  } catch (error) {
    refuse(`The settings in ${file} cannot be read: ${error.message}`)
  }
}

// Without `await`, which is a syntax error at the top level before Node 14.8. A failed import ends the process anyway.
import('../gateway/cli/main.ts')
