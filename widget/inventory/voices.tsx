/** Live regions, which a screen reader reads out. Each waits until its text stops changing. */
import { useEffect, useState } from 'react'
import type { Payment } from '../../contract/widget-api.ts'
import { selectedTotal } from '../flow/selectors.ts'
import type { Stand } from '../flow/state.ts'
import type { StandTexts } from '../i18n/stand.ts'
import { useOutcome } from './pick-for-me.tsx'
import type { ShownItems } from './shown-items.ts'
import { useStandTexts } from './texts.ts'

/** Milliseconds without a change before a text is read out. */
const QUIET_MS = 600

function Voice({ text }: { text: string }) {
  const [spoken, setSpoken] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setSpoken(text), QUIET_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <p className="visually-hidden" role="status">
      {spoken}
    </p>
  )
}

/** Reads out how many items have loaded, and the result of a search. */
export function ItemsVoice({ stand, shown }: { stand: Stand; shown: ShownItems }) {
  const { texts } = useStandTexts()
  return <Voice text={itemsText(stand, shown, texts)} />
}

/** Empty while the items load, and after a failure, which has an alert of its own. */
export function itemsText(
  { inventory, search, game }: Stand,
  { fronts, members, found }: ShownItems,
  texts: StandTexts,
): string {
  if (inventory.status !== 'ready') return ''
  if (fronts.length === 0) return texts.nothingUsable
  if (found.length === 0) return texts.nothingFound(search.trim())
  const count = found.reduce((sum, { id }) => sum + (members.get(id)?.length ?? 0), 0)
  return texts.gameCount(texts.games[game], count)
}

/** Reads out the selection, and the result of a proposal, as one text. */
export function SelectionVoice({ stand, payment }: { stand: Stand; payment: Payment }) {
  const { texts, money } = useStandTexts()
  const outcome = useOutcome(stand, payment)
  const { length } = stand.selection
  const selected =
    length > 0 && texts.announceSelection(length, money(selectedTotal(stand), payment.currency))
  return <Voice text={[outcome, selected].filter(Boolean).join(' ')} />
}
