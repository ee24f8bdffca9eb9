import { useId } from 'react'
import { MOST_UNAVAILABLE_NAMES } from '../../contract/limits.ts'
import { UNAVAILABLE_REASONS } from '../../contract/statuses.ts'
import type { Inventory } from '../../contract/widget-api.ts'
import { formatDate } from '../i18n/format.ts'
import { useStandTexts } from './texts.ts'

export function Unavailable({ inventory }: { inventory: Inventory }) {
  const { texts, language } = useStandTexts()
  const id = useId()
  if (inventory.unavailableItems === 0) return null
  const reasons = UNAVAILABLE_REASONS.filter((reason) => inventory.unavailableByReason[reason] !== undefined)
  return (
    <p className="unavailable">
      {texts.unavailable(inventory.unavailableItems)}
      {' · '}
      <button type="button" className="link" popoverTarget={id}>
        {texts.why}
      </button>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long list scrolls, and the keyboard must reach it */}
      <span id={id} popover="auto" className="popover" role="note" tabIndex={0}>
        {reasons.map((reason) => (
          <span key={reason} className="popover-row">
            <strong>{inventory.unavailableByReason[reason]}</strong> {texts.unavailableReasons[reason]}
            <Names
              total={inventory.unavailableByReason[reason] ?? 0}
              names={inventory.unavailableNames?.[reason] ?? []}
              counts={inventory.unavailableCounts?.[reason] ?? []}
            />
          </span>
        ))}
        {inventory.nextTradableAt !== undefined && (
          <span className="popover-note">
            {texts.firstFree(formatDate(inventory.nextTradableAt, language))}
          </span>
        )}
        <span className="popover-note">{texts.alsoNeeded}</span>
      </span>
    </p>
  )
}

/** `total`: the number of items. `counts`: how many of them have each name; empty from an older server. */
type NamesProps = { total: number; names: readonly string[]; counts: readonly number[] }

function Names({ total, names, counts }: NamesProps) {
  if (names.length === 0) return null
  const namesWithCounts = names.map((name, index) =>
    (counts[index] ?? 1) > 1 ? `${name} ×${counts[index]}` : name,
  )
  const isCut =
    names.length === MOST_UNAVAILABLE_NAMES && counts.reduce((sum, count) => sum + count, 0) < total
  return (
    <span className="popover-names">
      {namesWithCounts.join(', ')}
      {isCut && ', …'}
    </span>
  )
}
