/** How much of its store's limit for credit at risk a trade uses. Pure, in minor units of the trade. */

export type RoomChange = {
  kind: 'change_room'
  /** Credited before the end of Steam's protection, as long as that lasts. */
  held: { before: bigint; now: bigint }
  /** Lost to reversals, once protection has ended, and until when that uses the limit; null if nothing was ever lost. */
  lost: { amount: bigint; until: Date } | null
  /** A delivery uses at most what the limit leaves; null for facts that count whatever the limit is. */
  limitUsdCents: bigint | null
}

type Taking = { isHeld: boolean; atRisk: bigint; atRiskUntil: Date | null }

/** A delivery within the limit. Uses nothing if all of it is credited on release, or nothing is protected. */
export function roomOfDelivery(atRisk: bigint, limitUsdCents: bigint): RoomChange[] {
  if (atRisk === 0n) return []
  return [{ kind: 'change_room', held: { before: 0n, now: atRisk }, lost: null, limitUsdCents }]
}

/** How much of the limit a delivery uses after a later event. */
export function roomChange(before: Taking, now: Taking): RoomChange[] {
  const heldBy = ({ isHeld, atRisk }: Taking) => (isHeld ? atRisk : 0n)
  const held = { before: heldBy(before), now: heldBy(now) }
  const { atRisk, atRiskUntil: until } = now
  const lost = until === null ? null : { amount: now.isHeld ? 0n : atRisk, until }
  if (lost === null && held.before === held.now) return []
  return [{ kind: 'change_room', held, lost, limitUsdCents: null }]
}
