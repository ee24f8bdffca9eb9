/** Keeps compiled code between runs: a short run spends most of its time on compiling. */
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

/** Set it as NODE_COMPILE_CACHE of a child process to cache even the child's first file. */
export const COMPILE_CACHE = join(import.meta.dirname, '../../node_modules/.cache/tradetill')

/** Call this before importing anything large. If the folder is not writable, Node compiles every time. */
export function cacheCompiledCode(): void {
  enableCompileCache(COMPILE_CACHE)
}
