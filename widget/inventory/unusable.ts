import { UNAVAILABLE_REASONS, type UnavailableReason } from '../../contract/statuses.ts'
import type { Inventory } from '../../contract/widget-api.ts'
import { fold } from '../flow/selectors.ts'

/** A search that finds nothing lists at most this many unusable items. */
const MOST_UNUSABLE = 5

/** The unusable items whose name the search finds, with the reason. */
export function unusableItems(
  { unavailableNames = {} }: Pick<Inventory, 'unavailableNames'>,
  search: string,
): { name: string; reason: UnavailableReason }[] {
  const wanted = fold(search.trim())
  return UNAVAILABLE_REASONS.flatMap((reason) =>
    (unavailableNames[reason] ?? [])
      .filter((name) => fold(name).includes(wanted))
      .map((name) => ({ name, reason })),
  ).slice(0, MOST_UNUSABLE)
}
