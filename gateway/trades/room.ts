/**
 * How much a trade uses of its store's limit for credit at risk. Pure. Amounts of credit are in minor units of the
 * trade's currency.
 */

export type RoomChange = {
  kind: 'change_room'
  /** Credit given before the end of Steam's protection; 0 after that end. */
  exposed: { before: bigint; now: bigint }
  /**
   * Null if no credit of the trade was ever lost to a reversal. `amount`: the lost credit; 0 while Steam protects the
   * trade, because `exposed` still includes it. `until`: when it stops using the limit.
   */
  lost: { amount: bigint; until: Date } | null
  /**
   * The limit that a delivery, or an early release (`credit.ts`), must not exceed; null for changes that count in any
   * case.
   */
  limitUsdCents: bigint | null
}

/** The credit at risk of a trade at one moment. `isProtected`: Steam still protects the trade. */
type AtRisk = { isProtected: boolean; atRisk: bigint; atRiskUntil: Date | null }

/** A delivery takes a part of the store's room. */
export function takeRoom(atRisk: bigint, limitUsdCents: bigint): RoomChange[] {
  if (atRisk === 0n) return []
  return [{ kind: 'change_room', exposed: { before: 0n, now: atRisk }, lost: null, limitUsdCents }]
}

/** A later event changes the part that a delivery took. */
export function roomChange(before: AtRisk, now: AtRisk): RoomChange[] {
  const exposedBy = ({ isProtected, atRisk }: AtRisk) => (isProtected ? atRisk : 0n)
  const exposed = { before: exposedBy(before), now: exposedBy(now) }
  const { atRisk, atRiskUntil: until } = now
  const lost = until === null ? null : { amount: now.isProtected ? 0n : atRisk, until }
  if (lost === null && exposed.before === exposed.now) return []
  return [{ kind: 'change_room', exposed, lost, limitUsdCents: null }]
}
