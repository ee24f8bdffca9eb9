import './picked.css'
import { type ReactNode, useId, useState } from 'react'
import type { Currency } from '../../contract/money.ts'
import type { Item, Payment } from '../../contract/widget-api.ts'
import type { Flow } from '../flow/runner.ts'
import { selectedItems, selectedTotal } from '../flow/selectors.ts'
import type { Stand } from '../flow/state.ts'
import { Amount } from '../parts/amount.tsx'
import { ItemRows, rowsOf } from '../parts/items.tsx'
import { UpIcon } from '../ui/icons.tsx'
import { offerOf } from './summary.tsx'
import { useStandTexts } from './texts.ts'

type Props = {
  stand: Stand
  payment: Payment
  flow: Flow
  /** Called when the last pick was removed: the button that had the focus is gone. */
  onEmpty(): void
}

/** The sum and the count of the picks, in the bottom bar. */
export function Picked({ stand, payment, flow, onEmpty }: Props) {
  const { texts } = useStandTexts()
  const sum = (
    <strong>
      <Amount minor={selectedTotal(stand)} currency={payment.currency} />
    </strong>
  )
  const count = texts.selectedCount(stand.selection.length)
  const items = selectedItems(stand)
  if (items.length === 0)
    return (
      <p className="bottom-picked">
        {sum}
        <span>{count}</span>
      </p>
    )
  const remove = (id: string): void => {
    flow.dispatch({ kind: 'itemToggled', id })
    if (items.length === 1) onEmpty()
  }
  return (
    <PickedList
      items={items}
      currency={payment.currency}
      onRemove={offerOf(payment) === null ? remove : undefined}
    >
      {sum}
      <span>
        {count} <UpIcon />
      </span>
    </PickedList>
  )
}

type PickedListProps = {
  items: readonly Item[]
  currency: Currency
  onRemove: ((id: string) => void) | undefined
  children: ReactNode
}

/** A button that opens and closes a list of the picks over the page. */
function PickedList({ items, currency, onRemove, children }: PickedListProps) {
  const { texts } = useStandTexts()
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" className="bottom-picked" popoverTarget={id} aria-expanded={isOpen}>
        {children}
      </button>
      {/* The browser closes a popover on Esc, on Android's Back and on a press outside. */}
      <div
        id={id}
        popover="auto"
        className="picked-list"
        onToggle={({ newState }) => setOpen(newState === 'open')}
      >
        <ItemRows rows={rowsOf(items)} label={texts.selected} currency={currency} onRemove={onRemove} />
      </div>
    </>
  )
}
