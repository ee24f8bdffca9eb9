/**
 * `node --import ./scripts/compiled.mjs FILE`: what Node compiles is kept, FILE itself included. Not TypeScript, because
 * loading what strips the types is most of a short command's time, and the kept code needs no stripping.
 */
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/tradetill'))
