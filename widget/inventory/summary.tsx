import type { Payment } from '../../contract/widget-api.ts'
import type { Flow } from '../flow/runner.ts'
import { selectedItems, selectedTotal, shownInventory } from '../flow/selectors.ts'
import type { Stand } from '../flow/state.ts'
import { usePage } from '../page.tsx'
import { CurrencyIcon } from '../ui/currency.tsx'
import { Picture } from './card.tsx'
import { PayButton, usePayHint } from './pay.tsx'

type Props = { stand: Stand; payment: Payment; flow: Flow }

/** The desktop's panel: what is picked and what it comes to. */
export function Summary({ stand, payment, flow }: Props) {
  const { texts, money } = usePage()
  const items = selectedItems(stand)
  const total = selectedTotal(stand)
  const minPrice = shownInventory(stand)?.minPrice
  const { hint } = usePayHint(stand, payment)
  const note =
    items.length === 0 ? texts.pickItems : (hint ?? texts.worthInStore(money(total, payment.currency)))
  return (
    <aside className="summary" aria-label={texts.summary}>
      <dl className="summary-facts">
        <div>
          <dt>{texts.minimum}</dt>
          <dd>{minPrice === undefined ? '–' : money(minPrice, payment.currency)}</dd>
        </div>
        <div>
          <dt>{texts.selected}</dt>
          <dd>{items.length}</dd>
        </div>
        <div className="summary-total">
          <dt>
            <CurrencyIcon currency={payment.currency} /> {texts.total}
          </dt>
          <dd>{money(total, payment.currency)}</dd>
        </div>
      </dl>
      {items.length > 0 && (
        <ul className="summary-items">
          {items.map((item) => (
            <li key={item.id}>
              <button
                type="button"
                className={`summary-item ${item.rarity}`}
                title={item.rarityName === null ? item.name : `${item.name}, ${item.rarityName}`}
                aria-label={texts.removeItem(item.name)}
                onClick={() => flow.dispatch({ type: 'itemToggled', id: item.id })}
              >
                <Picture url={item.iconUrl} size={65} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <PayButton stand={stand} payment={payment} flow={flow} />
      <button
        type="button"
        className="button quiet-button"
        disabled={items.length === 0}
        aria-label={texts.clearAll}
        onClick={() => flow.dispatch({ type: 'selectionCleared' })}
      >
        {texts.clear}
      </button>
      {stand.inventory.status !== 'error' && <p className="summary-note">{note}</p>}
    </aside>
  )
}
