/**
 * Shortens the vault's waits between calls and between rounds. `node --import` loads this file before the vault's
 * program. The Steam sandbox does not limit calls here. The market sandbox does, and the calls stay within its limit.
 */
import { registerHooks } from 'node:module'
import CHANGES from './quicker-changes.json' with { type: 'json' }

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    const changes = CHANGES.filter(({ file }) => url.endsWith(`/${file}`))
    if (changes.length === 0) return loaded
    const source = changes.reduce((text, { file, from, to }) => {
      if (text.split(from).length !== 2) throw new Error(`${file} must contain this exactly once: ${from}`)
      return text.replace(from, to)
    }, String(loaded.source))
    return { ...loaded, source }
  },
})
