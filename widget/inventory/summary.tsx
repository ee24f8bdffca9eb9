import type { Inventory, Payment } from '../../contract/widget-api.ts'
import type { Flow } from '../flow/runner.ts'
import { isDeadEnd, payBlock, selectedItems, selectedTotal, shownInventory } from '../flow/selectors.ts'
import { creditOf, forecast, type Split } from '../flow/split.ts'
import type { Stand } from '../flow/state.ts'
import type { StandTexts } from '../i18n/stand.ts'
import { Amount } from '../parts/amount.tsx'
import { MoneyRows } from '../parts/money-rows.tsx'
import { StoreLink } from '../parts/solution-links.tsx'
import { Clear } from './clear.tsx'
import { PayButton, usePayHint } from './pay.tsx'
import { PickForMe } from './pick-for-me.tsx'
import { Target } from './target.tsx'
import { useStandTexts } from './texts.ts'
import { Tiles } from './tiles.tsx'

type Props = { stand: Stand; payment: Payment; flow: Flow }

/** The panel on a desktop: the picks and their total. Everything above the list of picks stays in place. */
export function Summary({ stand, payment, flow }: Props) {
  const { texts } = useStandTexts()
  const items = selectedItems(stand)
  const offered = offerOf(payment)
  const { count, total } = offered ?? { count: items.length, total: selectedTotal(stand) }
  const minPrice = shownInventory(stand)?.minPrice
  const { block, hint } = usePayHint(stand, payment)
  const canPick = payment.status === 'created' && !isDeadEnd(block)
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
            <dd>
              <Amount minor={payment.maxAmount} currency={payment.currency} />
            </dd>
          </div>
        )}
        <div>
          <dt>{texts.selected}</dt>
          <dd>{count}</dd>
        </div>
        <div className="summary-total">
          <dt>{texts.total}</dt>
          <dd>
            <Amount minor={total} currency={payment.currency} />
          </dd>
        </div>
      </dl>
      {payment.targetAmount !== null && offered === null && <Target stand={stand} payment={payment} />}
      {offered === null ? (
        <Money stand={stand} payment={payment} />
      ) : (
        <OfferMoney stand={stand} payment={payment} />
      )}
      <PayButton stand={stand} payment={payment} flow={flow} />
      {payment.status !== 'pending' && (
        <p className="summary-note">
          {block === null && payment.status === 'created' ? texts.payFixed : hint}
          {isDeadEnd(block) && (
            <>
              {' '}
              <StoreLink url={payment.backToStoreUrl} />
            </>
          )}
        </p>
      )}
      {canPick && <PickForMe stand={stand} payment={payment} flow={flow} />}
      <Clear stand={stand} flow={flow} className="button quiet-button" isSettled={offered !== null} />
      {items.length > 0 && (
        <Tiles
          items={items}
          onRemove={(id) => flow.dispatch({ kind: 'itemToggled', id })}
          isSettled={offered !== null}
        />
      )}
    </aside>
  )
}

/** The item count and value of an offer being created or open; after a reload the page has no picks of its own. */
export function offerOf({
  status,
  creating,
  itemCount,
  amount,
}: Payment): { count: number; total: number } | null {
  return (status === 'pending' || creating) && amount !== null ? { count: itemCount, total: amount } : null
}

/** When the money of the offer arrives. The dialog has the reason. */
function OfferMoney({ stand, payment }: Omit<Props, 'flow'>) {
  const split = creditOf(payment)
  if (split !== null && (split.until !== null || payment.status === 'pending'))
    return <MoneyRows split={split} currency={payment.currency} why={null} />
  return shownInventory(stand)?.hold ? <div className="money" /> : null
}

/** When the money arrives, with the reason. `isFolded`: the short form on a phone. */
export function Money({ stand, payment, isFolded = false }: Omit<Props, 'flow'> & { isFolded?: boolean }) {
  const { texts } = useStandTexts()
  const inventory = shownInventory(stand)
  // Reserve the room that most inventories need, so the button beneath does not move later.
  if (inventory === null && stand.inventory.status === 'loading' && !isFolded)
    return <div className="money" />
  if (inventory === null) return null
  const { hold } = inventory
  const total = selectedTotal(stand)
  const split = forecast(total, hold)
  const reason = reasonFor(split, hold, { texts, game: texts.games[stand.game] })
  // The panel on a desktop says below the button that a press fixes the amount.
  const why = isFolded && payBlock(stand, payment) === null ? `${reason} ${texts.payFixed}` : reason
  return (
    <MoneyRows split={split} currency={payment.currency} why={total === 0 ? null : why} isFolded={isFolded} />
  )
}

function reasonFor(
  { now, later }: Split,
  hold: Inventory['hold'],
  { texts, game }: { texts: StandTexts; game: string },
): string {
  if (hold === null) return texts.whyNow(game)
  if (later === 0) return texts.whyExpected(hold.days, game)
  if (now > 0) return texts.whyParts(hold.days, game)
  return (hold.by === 'limit' ? texts.whyLimit : texts.whyLater)(hold.days, game)
}
