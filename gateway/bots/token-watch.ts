import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import type { BotSummary } from './store.ts'
import { type TokenEnd, tokenEnd } from './token-end.ts'

/** Logs once that a token has less than 30 days left, and once that it has less than 7. Each process does so. */
export type TokenWatch = (bots: readonly BotSummary[]) => void

export function createTokenWatch({ log, clock }: { log: Log; clock: Clock }): TokenWatch {
  const lastEnd = new Map<bigint, TokenEnd>()
  return (bots) => {
    for (const { botId, name: botName, state, tokenExpiresAt: expiresAt } of bots) {
      const end = state === 'dead' ? 'far' : tokenEnd(expiresAt, clock.now())
      if (end === lastEnd.get(botId)) continue
      lastEnd.set(botId, end)
      const about = { botId: String(botId), botName, expiresAt }
      if (end === 'soon') log.warn(about, 'bot token had less than 30 days left: run bot renew')
      if (end === 'last') log.error(about, 'bot token had less than 7 days left: run bot renew')
    }
  }
}
