/**
 * Price holds: an operator's blocks, freezes and overrides. Each covers one item, the items that match a pattern, or an
 * entire game. Pure.
 */

import { marketNameOf } from './phase.ts'

export type PriceHoldKind = 'blocked' | 'frozen' | 'override'

export type PriceHold = {
  /** A name, or a pattern with `*` for any text; null: the entire game. */
  name: string | null
  kind: PriceHoldKind
  /** The price before commission, for an override; null for any other hold. */
  usdMicros: bigint | null
  since: Date
}

/** Stands for any text. A name with an asterisk of its own, such as `Music Kit | Knock2, dashstar*`, matches itself. */
const ANY = '*'

export const isPattern = (name: string | null): boolean => name?.includes(ANY) === true

/** True if the hold applies to this item. Must agree with LIKE in SQL on the pattern of `likePatternOf`. */
export function covers({ name }: Pick<PriceHold, 'name'>, item: string): boolean {
  if (name === null) return true
  return isPattern(name) ? fits(name.split(ANY), item) : name === item
}

/** True if the item contains all parts in this order, the first at its start and the last at its end. */
function fits(parts: readonly string[], item: string): boolean {
  const [first = '', ...rest] = parts
  const last = rest.pop() ?? ''
  if (!item.startsWith(first) || !item.endsWith(last)) return false
  let start = first.length
  for (const part of rest) {
    const at = item.indexOf(part, start)
    if (at === -1) return false
    start = at + part.length
  }
  return start <= item.length - last.length
}

/** The pattern for LIKE; null if the name is not a pattern. */
export function likePatternOf(name: string | null): string | null {
  if (name === null || !isPattern(name)) return null
  return name.replaceAll(/[\\%_]/g, '\\$&').replaceAll(ANY, '%')
}

export type PriceHoldEffect = {
  blocked: boolean
  /** The moment for which the item's price is judged. */
  asOf: Date
  /** The price that the operator set; null if there is none. */
  override: bigint | null
}

/**
 * Combines the holds on an item. A block takes precedence over an override, and an override over a freeze. A frozen
 * price is judged for the moment of the freeze, so it neither moves nor ages. Of several freezes the earliest
 * counts; of several overrides the item's own, or else the one with the longest pattern.
 */
export function effectOfHolds(holds: readonly PriceHold[], item: string, now: Date): PriceHoldEffect {
  const applied = holds.filter((hold) => covers(hold, item))
  const frozen = applied.filter(({ kind }) => kind === 'frozen').map(({ since }) => since.getTime())
  const [mostSpecific] = applied
    .filter(({ kind }) => kind === 'override')
    .sort((a, b) => specificity(b, item) - specificity(a, item))
  return {
    blocked: applied.some(({ kind }) => kind === 'blocked'),
    asOf: frozen.length > 0 ? new Date(Math.min(...frozen)) : now,
    override: mostSpecific?.usdMicros ?? null,
  }
}

/**
 * The name whose price counts for an item of this name: the market name instead of a phase's, if a hold on the market
 * name applies to the phase too. A block of the phase takes precedence over a price for the market name.
 */
export function nameInForce(holds: readonly PriceHold[], name: string): string {
  const marketHashName = marketNameOf(name)
  if (marketHashName === undefined) return name
  const isBlocked = (each: string) => holds.some((hold) => hold.kind === 'blocked' && covers(hold, each))
  if (isBlocked(marketHashName)) return marketHashName
  return !isBlocked(name) && isHeldTogether(holds, marketHashName, name) ? marketHashName : name
}

/** True if a hold covers the market name but not the phase, and the phase has none of its own. */
const isHeldTogether = (holds: readonly PriceHold[], marketHashName: string, phase: string): boolean =>
  holds.some((hold) => covers(hold, marketHashName) && !covers(hold, phase)) &&
  !holds.some(({ name }) => name === phase)

const specificity = ({ name }: PriceHold, item: string): number =>
  name === item ? Infinity : (name?.length ?? 0)
