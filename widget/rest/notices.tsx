import './notices.css'
import type { Flow } from '../flow/runner.ts'
import type { FlowState } from '../flow/state.ts'
import { MaintenanceNotice } from '../parts/maintenance.tsx'
import { useRestTexts } from '../parts/texts.ts'
import { OtherOffer } from './other-offer.tsx'
import { TimeLeft } from './time-left.tsx'

/** Notices about the connection, technical works and offers. */
export function Notices({ state, flow }: { state: FlowState; flow: Flow }) {
  const { texts } = useRestTexts()
  const { page } = state
  const inventory = page.stage === 'wait-for-select-items' ? page.stand.inventory : null
  // Nobody reads a notice behind a dialog, so the confirmation shows its own.
  const isInDialog =
    state.dialogs.kind === 'ready' && ['creating', 'joining', 'confirming'].includes(state.modal.kind)
  // The inventory already mentions the works, but without their reason or end.
  const isMentioned = inventory?.status === 'error' && inventory.type === 'engineeringWorks'
  const hasMaintenanceNotice = state.modal.kind === 'none' && state.payment?.technicalWorks === true
  const offer = state.modal.kind === 'none' && state.payment?.status === 'pending' ? state.payment : null
  // Maintenance stops the time of a deposit, but not that of an open offer, which is shown below.
  const worksText = offer === null ? texts.technicalWorksOnPage : texts.technicalWorks
  const isBeingCreated =
    state.modal.kind === 'none' && state.payment?.status === 'created' && state.payment.creating
  return (
    <div className="notices" aria-live="polite">
      {!state.isOnline && !isInDialog && (
        <p className="notice notice-warning notice-offline">{texts.offline}</p>
      )}
      {hasMaintenanceNotice && (
        <MaintenanceNotice payment={state.payment}>{isMentioned ? '' : worksText}</MaintenanceNotice>
      )}
      <OtherOffer state={state} />
      {isBeingCreated && (
        <p className="notice notice-offer">
          {texts.offerBeingMade}{' '}
          <button
            type="button"
            className="link"
            onClick={() => flow.dispatch({ kind: 'confirmationReopened' })}
          >
            {texts.offerShow}
          </button>
        </p>
      )}
      {offer !== null && (
        <p className="notice notice-offer">
          <span>
            {texts.offerWaiting}{' '}
            <span className="quiet">
              {offer.steamTradeId !== null && texts.offerNumber(offer.steamTradeId)}
              <TimeLeft deadlineMs={state.deadlineMs} />
            </span>
          </span>{' '}
          <button
            type="button"
            className="link"
            onClick={() => flow.dispatch({ kind: 'confirmationReopened' })}
          >
            {texts.offerReturn}
          </button>
        </p>
      )}
    </div>
  )
}
