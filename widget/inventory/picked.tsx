import './picked.css'
import { useId, useState } from 'react'
import type { Payment } from '../../contract/widget-api.ts'
import type { Flow } from '../flow/runner.ts'
import { selectedItems, selectedTotal } from '../flow/selectors.ts'
import type { Stand } from '../flow/state.ts'
import { Amount } from '../parts/amount.tsx'
import { ItemList, rowsOf } from '../parts/items.tsx'
import { UpIcon } from '../ui/icons.tsx'
import { useStand } from './texts.ts'

type Props = {
  stand: Stand
  payment: Payment
  flow: Flow
  /** Called once no item is picked any longer: the button that had the focus is gone. */
  onEmpty(): void
}

/** The sum and the count of the picks on a phone. A press lists them above the bar, over the page. */
export function Picked({ stand, payment, flow, onEmpty }: Props) {
  const { texts } = useStand()
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  const items = selectedItems(stand)
  const sum = (
    <strong>
      <Amount minor={selectedTotal(stand)} currency={payment.currency} />
    </strong>
  )
  const count = texts.selectedCount(stand.selection.length)
  if (items.length === 0)
    return (
      <p className="bottom-picked">
        {sum}
        <span>{count}</span>
      </p>
    )
  return (
    <>
      <button type="button" className="bottom-picked" popoverTarget={id} aria-expanded={isOpen}>
        {sum}
        <span>
          {count} <UpIcon />
        </span>
      </button>
      {/* The browser closes a popover on Esc, on Android's Back and on a press outside. */}
      <div
        id={id}
        popover="auto"
        className="picked-list"
        onToggle={({ newState }) => setOpen(newState === 'open')}
      >
        <ItemList
          rows={rowsOf(items)}
          look="rows"
          label={texts.selected}
          currency={payment.currency}
          onRemove={(item) => {
            flow.dispatch({ kind: 'itemToggled', id: item })
            if (items.length === 1) onEmpty()
          }}
        />
      </div>
    </>
  )
}
