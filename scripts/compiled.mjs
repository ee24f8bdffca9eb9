/**
 * `node --import ./scripts/compiled.mjs FILE`: caches Node's compiled code, FILE included. Not TypeScript, because
 * loading the type stripper takes most of a short command's time, and cached code needs no stripping.
 */
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/tradetill'))
