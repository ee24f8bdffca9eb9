import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { reasonOf } from './reason.ts'

/**
 * Creates the folder and its missing parents. A failure throws an error that contains the path. The recursive `mkdir`
 * of Node never ends if the system answers ENOENT although the parent exists, as in /proc or where folders are mounted
 * on demand.
 */
export function makeFolder(path: string, options: { mode?: number } = {}): void {
  try {
    make(resolve(path), options)
  } catch (error) {
    throw new Error(`The folder ${path} cannot be created: ${reasonOf(error)}`, { cause: error })
  }
}

function make(path: string, options: { mode?: number }): void {
  if (isFolder(path)) return
  const parent = dirname(path)
  if (parent !== path) make(parent, options)
  try {
    mkdirSync(path, options)
  } catch (error) {
    // Another process may have created it meanwhile.
    if (!isFolder(path)) throw error
  }
}

export const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
