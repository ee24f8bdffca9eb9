/** Steam's notice about trade protection. Until an account has acknowledged it once, its offers get stuck. */
import type { Needs } from '../needs.ts'
import type { Session } from './session.ts'

const TRY_AGAIN_S = 600
/** After this many failures in a row, the cause is not a short outage of Steam. */
const MANY_FAILURES = 3

type Parts = {
  session: Session
  nowS: () => number
  say(line: string, about: Record<string, string | number>): void
  needs: Pick<Needs, 'note' | 'end'>
}

/** Returns a function to call before each send or accept. Until a success, it asks Steam at most every ten minutes. */
export function createAcknowledgement({ session, nowS, say, needs }: Parts): () => Promise<void> {
  let isDone = false
  let triedAtS: number | undefined
  let failures = 0
  let asking: Promise<void> | undefined
  const ask = async (): Promise<void> => {
    if (isDone || (triedAtS !== undefined && Math.abs(nowS() - triedAtS) < TRY_AGAIN_S)) return
    triedAtS = nowS()
    const referer = 'https://steamcommunity.com/tradeoffer/new/'
    const reply = await session.form('acknowledge', '/trade/new/acknowledge', {
      fields: { message: '1' },
      referer,
      // The send that follows needs the session, and a login can be a minute away.
      keepsSession: true,
    })
    // Steam's answer has no content to judge by.
    isDone = reply.kind === 'reply' && reply.status === 200
    const { steamId } = session
    if (isDone) return needs.end('notice_refused', steamId)
    const line = 'Steam did not accept the acknowledgement about trade protection'
    say(line, { account: steamId })
    failures += 1
    if (failures >= MANY_FAILURES) needs.note('notice_refused', steamId, line)
  }
  // No part of the vault may send an offer while the acknowledgement is under way.
  return () => {
    asking ??= ask().finally(() => {
      asking = undefined
    })
    return asking
  }
}
