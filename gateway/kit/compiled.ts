/** What Node compiles is kept between runs: it is most of the time of a short one. */
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

/** As NODE_COMPILE_CACHE in a child's environment, the child's first file is kept as well. */
export const COMPILED = join(import.meta.dirname, '../../node_modules/.cache/tradetill')

/** Must be called before anything large is imported. Where the folder cannot be written, Node compiles each time. */
export function keepCompiled(): void {
  enableCompileCache(COMPILED)
}
