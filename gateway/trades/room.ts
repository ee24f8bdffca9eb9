/** The room that a trade takes in its store's limit for credit at risk. Pure, in minor units of the trade. */

export type RoomChange = {
  kind: 'change_room'
  /** Credited before Steam's protection ended, while it lasts. */
  held: { before: bigint; now: bigint }
  /** Lost to reversals, once protection has ended, and until when that takes room; null if nothing was ever lost. */
  lost: { amount: bigint; until: Date } | null
  /** A delivery takes no more than the store's limit leaves; null for what has happened whatever the limit. */
  limitUsdCents: bigint | null
}

type Taking = { isHeld: boolean; atRisk: bigint; atRiskUntil: Date | null }

/** A delivery within the limit. Nothing where all of it waits for the release, or nothing is protected. */
export function roomOfDelivery(atRisk: bigint, limitUsdCents: bigint): RoomChange[] {
  if (atRisk === 0n) return []
  return [{ kind: 'change_room', held: { before: 0n, now: atRisk }, lost: null, limitUsdCents }]
}

/** The room of a delivery after a later event. */
export function roomChange(before: Taking, now: Taking): RoomChange[] {
  const heldBy = ({ isHeld, atRisk }: Taking) => (isHeld ? atRisk : 0n)
  const held = { before: heldBy(before), now: heldBy(now) }
  const { atRisk, atRiskUntil: until } = now
  const lost = until === null ? null : { amount: now.isHeld ? 0n : atRisk, until }
  if (lost === null && held.before === held.now) return []
  return [{ kind: 'change_room', held, lost, limitUsdCents: null }]
}
