import { useRef, useState } from 'react'
import type { Payment } from '../../contract/widget-api.ts'
import type { Flow } from '../flow/runner.ts'
import { selectedItems, selectedTotal, shownInventory } from '../flow/selectors.ts'
import { forecast } from '../flow/split.ts'
import type { FlowState } from '../flow/state.ts'
import { areOffered, type ItemRow, ItemRows, offeredRowsOf, rowsOf } from '../parts/items.tsx'
import { MaintenanceNotice } from '../parts/maintenance.tsx'
import { CurrencyIcon } from '../ui/currency.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { useNarrow } from '../ui/hooks.ts'
import { BotCheck } from './bot-check.tsx'
import { Countdown } from './countdown.tsx'
import { PaymentMoney } from './money.tsx'
import { useModalTexts } from './texts.ts'

type Props = { state: FlowState; payment: Payment; flow: Flow }

/** The dialog for an offer that is being created or open. The shopper can leave it only by its button to step back. */
export function Confirmation({ state, payment, flow }: Props) {
  const { texts } = useModalTexts()
  const isOpen = payment.status === 'pending' && state.modal.kind === 'confirming'
  return (
    <Dialog className="dialog-confirmation">
      {(titleId) => (
        <>
          <h2 id={titleId}>{isOpen ? texts.confirmTitle : texts.creatingTitle}</h2>
          <Amounts state={state} payment={payment} />
          {payment.technicalWorks && (
            <MaintenanceNotice payment={payment}>{texts.technicalWorks}</MaintenanceNotice>
          )}
          {!state.isOnline && (
            <p className="notice notice-warning" role="status">
              {texts.offline}
            </p>
          )}
          {isOpen ? (
            <OpenOffer state={state} payment={payment} flow={flow} />
          ) : (
            <Creating state={state} payment={payment} flow={flow} />
          )}
        </>
      )}
    </Dialog>
  )
}

function Amounts({ state, payment }: { state: FlowState; payment: Payment }) {
  const { texts, money } = useModalTexts()
  const stand = state.page.stage === 'wait-for-select-items' ? state.page.stand : null
  const count = payment.itemCount > 0 ? payment.itemCount : (stand?.selection.length ?? 0)
  // After a reload the page has no picks: only the deposit has the amount of the trade.
  const amount = payment.amount ?? (stand === null ? 0 : selectedTotal(stand))
  if (count === 0 || amount === 0) return null
  return (
    <p className="dialog-sub">
      <CurrencyIcon currency={payment.currency} />
      {texts.confirmSummary(count, money(amount, payment.currency))}
    </p>
  )
}

function Creating({ state, payment, flow }: Props) {
  const { texts } = useModalTexts()
  const { modal, isOnline } = state
  const isSlow = (modal.kind === 'creating' || modal.kind === 'joining') && modal.isSlow
  const isRepeated = state.isPollFailing || (modal.kind === 'creating' && modal.attempt > 1)
  const textAtFirst = isRepeated ? texts.creatingAgain : texts.creatingText
  return (
    <>
      {/* While the page is offline, Steam is not the cause of the delay. */}
      <Countdown deadlineMs={null} {...(!isOnline && { unknownText: texts.itemsSafe })} />
      {/* While the page is offline, the request may not have arrived: the notice above explains. */}
      {(isOnline || isSlow) && (
        <p className="creating" role="status">
          <span className="spinner" aria-hidden="true" /> {isSlow ? texts.creatingSlow : textAtFirst}
        </p>
      )}
      <Items state={state} payment={payment} />
      {isSlow && (
        <button type="button" className="button" onClick={() => flow.dispatch({ kind: 'confirmationLeft' })}>
          {texts.stepBackEarly}
        </button>
      )}
    </>
  )
}

/** Three steps that describe each of Steam's screens before the shopper sees it. */
function OpenOffer({ state, payment, flow }: Props) {
  const { texts, money } = useModalTexts()
  const amount = money(payment.amount ?? 0, payment.currency)
  return (
    <>
      <PaymentMoney payment={payment} expected={expectedOf(state, payment)} />
      <Countdown deadlineMs={state.deadlineMs} />
      <ol className="steps">
        <li>
          <h3>{texts.stepOpen}</h3>
          <Accept payment={payment} />
        </li>
        <li>
          <h3>{texts.stepCheck}</h3>
          {payment.steamTradeMessage !== null && <SecretCode code={payment.steamTradeMessage} />}
          <Items state={state} payment={payment} />
          <BotCheck bot={payment.bot} />
          <p>{texts.nothingInReturn(amount)}</p>
        </li>
        <li>
          <h3>{texts.stepPhone}</h3>
          <p>{texts.phoneHint}</p>
        </li>
      </ol>
      <p className="confirm-next">{texts.confirmNext}</p>
      {payment.steamTradeId !== null && <p className="quiet">{texts.offerNumber(payment.steamTradeId)}</p>}
      <button
        type="button"
        className="link step-back"
        onClick={() => flow.dispatch({ kind: 'confirmationLeft' })}
      >
        {texts.stepBack}
      </button>
    </>
  )
}

/** The credit that the page expected to be available at once; null if the picks are not the offer's items. */
function expectedOf({ page }: FlowState, { items = [] }: Payment): number | null {
  if (page.stage !== 'wait-for-select-items' || !areOffered(selectedItems(page.stand), items)) return null
  const inventory = shownInventory(page.stand)
  return inventory === null ? null : forecast(selectedTotal(page.stand), inventory.hold).now
}

/** The items that the offer takes, so the shopper can compare them with Steam's page and with the phone. */
function Items({ state, payment }: Omit<Props, 'flow'>) {
  const { texts } = useModalTexts()
  const rows = rowsToGive(state, payment)
  if (rows.length === 0) return null
  return (
    <div className="gives">
      <p className="code-label">{texts.itemsToGive}</p>
      <ItemRows rows={rows} label={texts.itemsToGive} currency={payment.currency} />
    </div>
  )
}

/** Prefers the picks, or else those that this tab kept, if they are the offer's items: only picks have pictures. */
function rowsToGive({ page, offeredPicks }: FlowState, { items }: Payment): ItemRow[] {
  const picked = page.stage === 'wait-for-select-items' ? selectedItems(page.stand) : []
  // A gateway of the previous release lists no items.
  if (items === undefined) return rowsOf(picked)
  const offered = [picked, offeredPicks?.items ?? []].find((each) => areOffered(each, items))
  return offered === undefined ? offeredRowsOf(items) : rowsOf(offered)
}

function Accept({ payment }: { payment: Payment }) {
  const { texts } = useModalTexts()
  const isNarrow = useNarrow()
  return (
    <div className="accept">
      {payment.acceptUrl !== null && (
        <a className="button primary" href={payment.acceptUrl} target="_blank" rel="noopener noreferrer">
          {texts.acceptInBrowser}
        </a>
      )}
      {!isNarrow && payment.clientUrl !== null && (
        <a className="button" href={payment.clientUrl}>
          {texts.acceptInClient}
        </a>
      )}
    </div>
  )
}

function SecretCode({ code }: { code: string }) {
  const { texts } = useModalTexts()
  const [isCopied, setCopied] = useState(false)
  const shown = useRef<HTMLOutputElement>(null)
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(code)
      setCopied(true)
    } catch {
      // Without access to the clipboard, the shopper can copy the selected code with the keyboard or the menu.
      setCopied(false)
      if (shown.current !== null) getSelection()?.selectAllChildren(shown.current)
    }
  }
  return (
    <div>
      <p className="code-label">{texts.secretCode}</p>
      <div className="code">
        <output ref={shown} className="code-text" aria-label={texts.secretCode}>
          {code}
        </output>
        <button type="button" className="button small" onClick={() => void copy()}>
          {isCopied ? texts.copied : texts.copy}
        </button>
      </div>
    </div>
  )
}
