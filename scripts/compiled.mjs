/**
 * `node --import ./scripts/compiled.mjs FILE` makes Node cache the code that it compiles, including FILE. This file is
 * not TypeScript: loading the type stripper takes most of a short command's time, and cached code does not need it.
 */
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/tradetill'))
