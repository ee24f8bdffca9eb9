import type { Item, Payment } from '../../contract/widget-api.ts'
import type { Flow } from '../flow/runner.ts'
import { selectedItems, selectedTotal, shownInventory } from '../flow/selectors.ts'
import { forecast } from '../flow/split.ts'
import type { Stand } from '../flow/state.ts'
import { Amount } from '../parts/amount.tsx'
import { MoneyRows } from '../parts/money-rows.tsx'
import { Picture } from './card.tsx'
import { PayButton, usePayHint } from './pay.tsx'
import { PickForMe } from './pick-for-me.tsx'
import { Target } from './target.tsx'
import { useStand } from './texts.ts'

type Props = { stand: Stand; payment: Payment; flow: Flow }

/** The desktop's panel: what is picked and what it comes to. All above the list of items keeps its place. */
export function Summary({ stand, payment, flow }: Props) {
  const { texts, money } = useStand()
  const items = selectedItems(stand)
  const total = selectedTotal(stand)
  const minPrice = shownInventory(stand)?.minPrice
  const { hint } = usePayHint(stand, payment)
  return (
    <aside className="summary" aria-label={texts.summary}>
      <dl className="summary-facts">
        <div>
          <dt>{texts.minimum}</dt>
          {minPrice === undefined ? (
            <dd key="unknown">–</dd>
          ) : (
            <dd key="known">
              <Amount minor={minPrice} currency={payment.currency} />
            </dd>
          )}
        </div>
        {payment.maxAmount !== null && (
          <div>
            <dt>{texts.maximum}</dt>
            <dd>{money(payment.maxAmount, payment.currency)}</dd>
          </div>
        )}
        <div>
          <dt>{texts.selected}</dt>
          <dd>{items.length}</dd>
        </div>
        <div className="summary-total">
          <dt>{texts.total}</dt>
          <dd>
            <Amount minor={total} currency={payment.currency} />
          </dd>
        </div>
      </dl>
      {payment.targetAmount !== null && <Target stand={stand} payment={payment} />}
      <Money stand={stand} payment={payment} />
      <PayButton stand={stand} payment={payment} flow={flow} />
      {payment.status !== 'pending' && <p className="summary-note">{hint}</p>}
      {payment.status === 'created' && <PickForMe stand={stand} payment={payment} flow={flow} />}
      <button
        type="button"
        className="button quiet-button"
        disabled={items.length === 0}
        aria-label={texts.clearAll}
        onClick={() => flow.dispatch({ kind: 'selectionCleared' })}
      >
        {texts.clear}
      </button>
      {items.length > 0 && <Picked items={items} flow={flow} />}
    </aside>
  )
}

/** The picked items; a press gives one back. */
function Picked({ items, flow }: { items: readonly Item[]; flow: Flow }) {
  const { texts } = useStand()
  return (
    <ul className="summary-items">
      {items.map((item) => {
        const { id, name, phase, rarity, rarityName, iconUrl } = item
        return (
          <li key={id}>
            <button
              type="button"
              className={`summary-item ${rarity}`}
              title={[name, phase && texts.phases[phase], rarityName].filter(Boolean).join(', ')}
              aria-label={texts.removeItem(name)}
              onClick={() => flow.dispatch({ kind: 'itemToggled', id })}
            >
              <Picture url={iconUrl} size={65} />
            </button>
          </li>
        )
      })}
    </ul>
  )
}

/** When the money comes, where any of it is held. */
export function Money({ stand, payment, folded = false }: Omit<Props, 'flow'> & { folded?: boolean }) {
  const { texts } = useStand()
  const inventory = shownInventory(stand)
  // Keeps the place of what most inventories have: the button beneath must not move away when it comes.
  if (inventory === null && stand.inventory.status === 'loading' && !folded) return <div className="money" />
  const hold = inventory?.hold ?? null
  if (hold === null) return null
  const split = forecast(selectedTotal(stand), hold)
  const why = (split.later > 0 ? texts.whyLater : texts.whyExpected)(hold.days, texts.games[stand.game])
  return <MoneyRows split={split} currency={payment.currency} why={why} folded={folded} />
}
