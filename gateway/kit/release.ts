import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** A file that only a release has: `npm run release` writes it into the archive. */
export const RELEASE_FILE = join(import.meta.dirname, '../../release.json')

export const isRelease = (): boolean => existsSync(RELEASE_FILE)
