import { useId } from 'react'
import { MOST_UNAVAILABLE_NAMES } from '../../contract/limits.ts'
import { UNAVAILABLE_REASONS } from '../../contract/statuses.ts'
import type { Inventory } from '../../contract/widget-api.ts'

import { formatDate } from '../i18n/format.ts'
import { useStand } from './texts.ts'

/** The number of unusable items, with the reasons and names. */
export function Unavailable({ inventory }: { inventory: Inventory }) {
  const { texts, language } = useStand()
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
      <span id={id} popover="auto" className="popover">
        {reasons.map((reason) => (
          <span key={reason} className="popover-row">
            <strong>{inventory.unavailableByReason[reason]}</strong> {texts.unavailableReasons[reason]}
            <Names names={inventory.unavailableNames?.[reason] ?? []} />
          </span>
        ))}
        {inventory.nextTradableAt !== undefined && (
          <span className="popover-note">
            {texts.firstFree(formatDate(inventory.nextTradableAt, language))}
          </span>
        )}
        <span className="popover-note">{texts.itemConditions}</span>
      </span>
    </p>
  )
}

function Names({ names }: { names: readonly string[] }) {
  if (names.length === 0) return null
  const isCut = names.length === MOST_UNAVAILABLE_NAMES
  return (
    <span className="popover-names">
      {names.join(', ')}
      {isCut && ', …'}
    </span>
  )
}
