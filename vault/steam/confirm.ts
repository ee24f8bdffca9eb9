/** Confirms an account's offers, one at a time, as its mobile authenticator does. Confirms nothing else. */
import { createHash, createHmac } from 'node:crypto'
import { type Confirmation, isSuccess, readConfirmations } from './answers.ts'
import type { Session } from './session.ts'

/** Steam's type of a confirmation for an offer. */
const OFFER_TYPE = 2

export type FoundConfirmation =
  | { kind: 'found'; confirmation: Confirmation }
  | { kind: 'none' }
  | { kind: 'unanswered' }

/** Finds the confirmation of this offer. Finds none if two claim to be for it, because one must be false. */
export async function findConfirmation(
  session: Session,
  offerId: string,
  timeS: number,
): Promise<FoundConfirmation> {
  const reply = await session.page('confirmations', '/mobileconf/getlist', {
    query: sign(session, 'list', timeS),
  })
  const confirmations = reply && readConfirmations(reply)
  if (confirmations === undefined) return { kind: 'unanswered' }
  const matching = confirmations.filter((each) => each.type === OFFER_TYPE && each.creator_id === offerId)
  const [confirmation] = matching
  return confirmation !== undefined && matching.length === 1
    ? { kind: 'found', confirmation }
    : { kind: 'none' }
}

/**
 * Accepts the confirmation. Resolves to false if Steam did not report success, although it may have worked. `isStillAllowed`:
 * asked right before the request; if it says no, the request is not made.
 */
export async function acceptConfirmation(
  session: Session,
  { id, nonce }: Confirmation,
  { timeS, isStillAllowed }: { timeS: number; isStillAllowed: (() => boolean) | undefined },
): Promise<boolean> {
  const query = { op: 'allow', ...sign(session, 'accept', timeS), cid: id, ck: nonce }
  const reply = await session.page('confirm', '/mobileconf/ajaxop', { query, isStillAllowed })
  return reply !== undefined && isSuccess(reply)
}

/** The query of a request of this kind (`tag`), signed. Steam accepts it for a few minutes. */
function sign({ steamId, secrets }: Session, tag: string, timeS: number): Record<string, string> {
  const time = Buffer.alloc(8)
  time.writeBigUInt64BE(BigInt(timeS))
  const key = createHmac('sha1', Buffer.from(secrets.identitySecret, 'base64')).update(time).update(tag)
  return { p: deviceIdOf(steamId), a: steamId, k: key.digest('base64'), t: String(timeS), m: 'react', tag }
}

function deviceIdOf(steamId: string): string {
  const hex = createHash('sha1').update(steamId).digest('hex')
  return `android:${hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')}`
}
