/** Whether Steam refuses the logins of an account, for example because its owner logged out all devices. */
import { HOUR_MS } from '../durations.ts'
import type { Needs } from '../needs.ts'
import type { LoginOutcome } from './session.ts'

/** Steam sometimes refuses good tokens for a while, so a person is told only after this time. */
const PATIENCE_MS = HOUR_MS

type Parts = { steamId: string; now(): Date; needs: Pick<Needs, 'note' | 'end'> }

export type RefusedLogins = {
  note(outcome: LoginOutcome): void
  /** True if Steam refused the latest login that it answered. */
  isRefused(): boolean
}

export function createRefusedLogins({ steamId, now, needs }: Parts): RefusedLogins {
  const about = `account ${steamId}`
  let since: Date | undefined
  return {
    isRefused: () => since !== undefined,
    note(outcome) {
      if (outcome === 'done') {
        since = undefined
        needs.end('login_refused', about)
        return
      }
      since ??= now()
      if (now().getTime() - since.getTime() >= PATIENCE_MS)
        needs.note('login_refused', about, 'Steam has refused its logins for an hour or longer')
    },
  }
}
