/**
 * `node --import` loads this before the vault's program, and shortens its waits between two calls. Steam and the
 * markets are sandboxes here, and none of them limits calls.
 */
import { registerHooks } from 'node:module'

/** Replacements, by the end of a file's path. The process ends if the sources do not contain a text exactly once. */
const CHANGES = {
  '/vault/steam/pace.ts': [['turnMs + GAPS_MS[kind])', 'turnMs + GAPS_MS[kind] / 50)']],
  '/vault/markets/waxpeer.ts': [['const EVERY_MS = 1_000', 'const EVERY_MS = 250']],
  '/vault/markets/family.ts': [['const EVERY_MS = 500', 'const EVERY_MS = 250']],
  '/vault/commands/run.ts': [
    ['const ROUND_PAUSE_MS = 3_000', 'const ROUND_PAUSE_MS = 200'],
    ['const FAILED_PAUSE_MS = 15_000', 'const FAILED_PAUSE_MS = 1_000'],
  ],
}

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    const file = Object.keys(CHANGES).find((path) => url.endsWith(path))
    if (file === undefined) return loaded
    const source = CHANGES[file].reduce((text, [from, to]) => {
      if (text.split(from).length !== 2) throw new Error(`${file} must contain this exactly once: ${from}`)
      return text.replace(from, to)
    }, String(loaded.source))
    return { ...loaded, source }
  },
})
