import { useCallback, useEffect } from 'react'
import type { Language } from '../../contract/languages.ts'
import type { Payment } from '../../contract/widget-api.ts'
import type { Flow } from '../flow/runner.ts'
import { secondsLeft } from '../flow/selectors.ts'
import type { FlowState } from '../flow/state.ts'
import { formatTimer } from '../i18n/format.ts'
import type { StandProps } from '../inventory/stand.tsx'
import { LinkField } from '../link/link-field.tsx'
import { PageProvider, usePage } from '../page.tsx'
import { chosenLanguage, storedLanguage } from '../storage.ts'
import type { ToastStore } from '../toasts/store.ts'
import { Toasts } from '../toasts/toasts.tsx'
import { useAccent } from '../ui/accent.ts'
import { Header } from '../ui/header.tsx'
import { useNow } from '../ui/hooks.ts'
import { usePart } from '../ui/on-demand.ts'
import { hasShell } from '../ui/shell-element.ts'
import { Skeletons } from '../ui/skeletons.tsx'
import { guide, modals, stand } from './parts.ts'
import { DepositTitle } from './title.ts'
import { useFlow } from './use-flow.ts'
import { useStorePage } from './use-store-page.ts'

export function Deposit({ hash, toasts }: { hash: string; toasts: ToastStore }) {
  const running = useFlow(hash, toasts)
  const flow = running?.flow
  const chooseLanguage = useCallback(
    (language: Language) => flow?.dispatch({ kind: 'languageChosen', language }),
    [flow],
  )
  const language = running?.state.language ?? chosenLanguage(hash) ?? storedLanguage() ?? 'en'
  return (
    <PageProvider language={language} onLanguage={chooseLanguage} toasts={toasts}>
      {running === null ? <Waiting /> : <DepositPage {...running} />}
    </PageProvider>
  )
}

function DepositPage({ state, flow }: { state: FlowState; flow: Flow }) {
  const { toasts, isSpoken } = usePage()
  const { page, payment, modal } = state
  const found = payment !== null
  useAccent(payment?.storeAccent ?? null)
  useStorePage(state)
  // The next view's code comes while the shopper looks for the link.
  usePart(stand, found)
  // Before a modal is wanted, its code is here: a press on Pay shows it at once. The items come first.
  const loading = page.stage === 'wait-for-select-items' && page.stand.inventory.status === 'loading'
  const part = usePart(modals, found && (modal.kind !== 'none' || !loading))
  useEffect(() => flow.dispatch({ kind: 'dialogsChanged', to: part.kind }), [flow, part.kind])
  // The deposit has just named its language: it is not shown in another one first.
  if (found && !state.languageChosen && !isSpoken) return <Waiting />
  return (
    <>
      <DepositTitle state={state} />
      {page.stage === 'none' && <Waiting />}
      {page.stage === 'failed' && <Failed code={page.refusal.code} flow={flow} />}
      {payment !== null &&
        (page.stage === 'wait-for-trade-url-input' || page.stage === 'wait-for-select-items') && (
          <>
            <DepositHeader payment={payment} />
            <Notices state={state} flow={flow} />
            <main className={page.stage === 'wait-for-select-items' ? 'deposit deposit-stand' : 'deposit'}>
              <LinkField page={page} flow={flow} />
              {page.stage === 'wait-for-trade-url-input' ? (
                <GuidePlace />
              ) : (
                <StandPlace stand={page.stand} payment={payment} flow={flow} />
              )}
            </main>
          </>
        )}
      {part.kind === 'ready' ? <part.component state={state} flow={flow} /> : <Missing state={state} />}
      {(modal.kind === 'none' || payment === null || part.kind !== 'ready') && <Toasts store={toasts} />}
    </>
  )
}

function GuidePlace() {
  const { texts } = usePage()
  const part = usePart(guide, true)
  if (part.kind === 'ready') return <part.component />
  if (part.kind === 'loading') return <div className="skeleton skeleton-guide" />
  return (
    <div className="empty" role="alert">
      <p>{texts.guideFailed}</p>
      <ReloadPage />
    </div>
  )
}

/** The items, or the room for them until their code is here. */
function StandPlace(props: StandProps) {
  const { texts } = usePage()
  const part = usePart(stand, true)
  if (part.kind === 'ready') return <part.component {...props} />
  if (part.kind === 'loading')
    return (
      <>
        <Skeletons label={texts.inventoryLoading} />
        <span className="summary-room" />
      </>
    )
  return (
    <div className="empty" role="alert">
      <p>{texts.itemsFailed}</p>
      <ReloadPage />
    </div>
  )
}

function ReloadPage() {
  const { texts } = usePage()
  return (
    <button type="button" className="button primary" onClick={() => location.reload()}>
      {texts.reloadPage}
    </button>
  )
}

function DepositHeader({ payment }: { payment: Payment }) {
  const { texts } = usePage()
  return (
    <Header>
      <h1>
        <span className="header-name">{texts.depositTo(payment.storeName)}</span>
        <span className="header-sub">
          {texts.addFunds}
          {payment.customerLabel !== null && (
            <>
              {' · '}
              {texts.depositFor} <bdi className="header-customer">{payment.customerLabel}</bdi>
            </>
          )}
        </span>
      </h1>
      <span className="deposit-id">#{payment.id}</span>
    </Header>
  )
}

function Notices({ state, flow }: { state: FlowState; flow: Flow }) {
  const { texts } = usePage()
  const { page } = state
  const inventory = page.stage === 'wait-for-select-items' ? page.stand.inventory : null
  // Behind a dialog nobody reads it: the confirmation has a line of its own.
  const isInDialog =
    state.dialogs.kind === 'ready' && ['creating', 'joining', 'confirming'].includes(state.modal.kind)
  // The inventory says it already.
  const isSaid = inventory?.status === 'error' && inventory.type === 'engineeringWorks'
  const works = state.modal.kind === 'none' && state.payment?.technicalWorks === true && !isSaid
  const offer = state.modal.kind === 'none' && state.payment?.status === 'pending' ? state.payment : null
  const isMaking =
    state.modal.kind === 'none' && state.payment?.status === 'created' && state.payment.creating
  return (
    <div className="notices" aria-live="polite">
      {!state.online && !isInDialog && (
        <p className="notice notice-warning notice-offline">{texts.offline}</p>
      )}
      {works && <p className="notice notice-warning">{texts.technicalWorksOnPage}</p>}
      {isMaking && (
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

/** Counts silently: the sentence before it is read out once. */
function TimeLeft({ deadlineMs }: { deadlineMs: number | null }) {
  const { texts } = usePage()
  const seconds = secondsLeft(deadlineMs, useNow(deadlineMs !== null))
  if (seconds === null) return null
  return (
    <span role="timer" aria-live="off">
      {' · '}
      {texts.offerTimeLeft(formatTimer(seconds))}
    </span>
  )
}

/** Stands in for a dialog whose code is not here. */
function Missing({ state }: { state: FlowState }) {
  const { texts } = usePage()
  const { dialogs, modal, payment } = state
  if (dialogs.kind === 'ready' || payment === null) return null
  const isDue = modal.kind !== 'none'
  if (!isDue && !dialogs.pay) return null
  if (dialogs.kind === 'loading')
    return (
      <p className="missing" role="status">
        <span className="spinner" aria-hidden="true" /> {texts.partLoading}
      </p>
    )
  return (
    <div className="missing" role="alert">
      <p>{isDue ? texts.partFailedLater : texts.partFailed}</p>
      <ReloadPage />
    </div>
  )
}

function Waiting() {
  const { texts } = usePage()
  if (hasShell()) return null
  return (
    <>
      <Header>
        <span className="skeleton skeleton-title" />
      </Header>
      <main className="deposit" aria-busy="true">
        <p className="visually-hidden" role="status">
          {texts.loading}
        </p>
        <div className="skeleton skeleton-link" />
        <div className="skeleton skeleton-guide" />
      </main>
    </>
  )
}

/** Asking again for a wrong address helps nobody. The page that led here may be the store's; help always is there. */
function BackWhereFrom() {
  const { texts } = usePage()
  const { referrer } = document
  const isOther = /^https?:\/\//i.test(referrer) && new URL(referrer).origin !== location.origin
  return (
    <a className="button primary" href={isOther ? referrer : '/help'}>
      {isOther ? texts.goBack : texts.support}
    </a>
  )
}

function Failed({ code, flow }: { code: string | null; flow: Flow }) {
  const { texts } = usePage()
  const unknown = code === 'deposit_not_found' || code === 'invalid_request'
  // Without a code nobody refused: the server was not reached.
  const [title, hint] =
    code === null
      ? [texts.paymentNotLoaded, texts.paymentNotLoadedHint]
      : [texts.paymentBusy, texts.paymentBusyHint]
  return (
    <>
      <Header>
        <span className="brand">Tradetill</span>
      </Header>
      <main className="message-page">
        <h1>{unknown ? texts.paymentNotFound : title}</h1>
        <p>{unknown ? texts.paymentNotFoundHint : hint}</p>
        {unknown ? (
          <BackWhereFrom />
        ) : (
          <button
            type="button"
            className="button primary"
            onClick={() => flow.dispatch({ kind: 'retryPressed' })}
          >
            {texts.retry}
          </button>
        )}
      </main>
    </>
  )
}
