/** Reports a gateway that seals with a master key that this one lacks, as when a new key was rolled out in one step. */
import { shortened } from '../db/identity.ts'
import type { Log } from '../kit/log.ts'
import type { SecretBox } from '../kit/secret-box.ts'

type KeyWatchDeps = { box: Pick<SecretBox, 'knows'>; log: Log; monotonicMs(): number }

/** How often the log repeats that a key is missing. */
const LOG_AGAIN_MS = 600_000

/** The returned function takes the key fingerprints of all live processes: null for one that did not report it. */
export function watchKeys({ box, log, monotonicMs }: KeyWatchDeps) {
  let loggedMs = Number.NEGATIVE_INFINITY
  return (fingerprints: readonly (string | null)[]): void => {
    const missing = fingerprints.find((each) => each !== null && !box.knows(each))
    if (missing === undefined || missing === null) {
      loggedMs = Number.NEGATIVE_INFINITY
      return
    }
    if (monotonicMs() - loggedMs < LOG_AGAIN_MS) return
    loggedMs = monotonicMs()
    log.error(
      { fingerprint: shortened(missing) },
      'another gateway seals with a master key that this one does not have, and this one cannot read what it seals: add the key to TRADETILL_OLD_MASTER_KEYS_FILE and restart',
    )
  }
}
