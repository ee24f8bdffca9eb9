import './deposit.css'
import './message-page.css'
import { useCallback } from 'react'
import type { Language } from '../../contract/languages.ts'
import type { Payment } from '../../contract/widget-api.ts'
import type { Flow } from '../flow/runner.ts'
import type { FlowState } from '../flow/state.ts'
import { hasStaleLink, LinkField } from '../link/link-field.tsx'
import { PageProvider, usePage } from '../page.tsx'
import { usePart } from '../parts/part.ts'
import { guide, stand } from '../parts/parts.ts'
import { rest } from '../parts/rest.ts'
import { useAccent } from '../ui/accent.ts'
import { Skeletons } from '../ui/skeletons.tsx'
import { Guard } from './guard.tsx'
import { Header } from './header.tsx'
import { ReloadPage } from './reload-page.tsx'
import { hasShell } from './shell-element.ts'
import { useFlow } from './use-flow.ts'

export function Deposit({ hash }: { hash: string }) {
  const { state, flow } = useFlow(hash)
  const part = usePart(rest, true)
  const chooseLanguage = useCallback(
    (language: Language) => flow.dispatch({ kind: 'languageChosen', language }),
    [flow],
  )
  const restTexts = part.kind === 'ready' ? part.code.restTexts : undefined
  return (
    <PageProvider language={state.language} onLanguage={chooseLanguage} restTexts={restTexts}>
      <Guard>
        <DepositPage state={state} flow={flow} />
      </Guard>
    </PageProvider>
  )
}

type Props = { state: FlowState; flow: Flow }

function DepositPage({ state, flow }: Props) {
  const { page, payment } = state
  useAccent(payment?.storeAccent ?? null)
  // Load the next view's code while the shopper looks for the link.
  usePart(stand, payment !== null)
  const part = usePart(rest, true)
  const code = part.kind === 'ready' ? part.code : null
  // Without the rest of the code, the page can show only the link field. If it needs more, the shell of shell.tsx stays.
  if (code === null && !isAsking(state)) return part.kind === 'failed' ? <PageFailed /> : <Waiting />
  return (
    <>
      {page.stage === 'none' && <Waiting />}
      {page.stage === 'failed' && code !== null && <code.Failed refusal={page.refusal} flow={flow} />}
      {payment !== null &&
        (page.stage === 'wait-for-trade-url-input' || page.stage === 'wait-for-select-items') && (
          <>
            <DepositHeader payment={payment} />
            {code !== null && <code.Notices state={state} flow={flow} />}
            <main className={page.stage === 'wait-for-select-items' ? 'deposit deposit-stand' : 'deposit'}>
              <LinkField page={page} payment={payment} flow={flow} parts={code} />
              {page.stage === 'wait-for-select-items' ? (
                <>
                  <StandPlace stand={page.stand} payment={payment} flow={flow} />
                  {hasStaleLink(page.stand) && <GuidePlace isFieldBroken={false} />}
                </>
              ) : (
                <GuidePlace isFieldBroken={part.kind === 'failed'} />
              )}
            </main>
          </>
        )}
      {code !== null && <code.Around state={state} flow={flow} />}
    </>
  )
}

/** True if the page waits for a trade link and has nothing else to show. */
function isAsking({ page, payment }: FlowState): boolean {
  if (payment === null || page.stage !== 'wait-for-trade-url-input') return false
  return payment.status === 'created' && !payment.creating && !payment.technicalWorks
}

/** `isFieldBroken`: the field above does not work, because the rest of the page failed to load. */
function GuidePlace({ isFieldBroken }: { isFieldBroken: boolean }) {
  const part = usePart(guide, true)
  if (isFieldBroken || part.kind === 'failed') return <PartFailed />
  return part.kind === 'ready' ? <part.code.Guide /> : <div className="skeleton skeleton-guide" />
}

type StandProps = {
  stand: Extract<FlowState['page'], { stand: object }>['stand']
  payment: Payment
  flow: Flow
}

/** The items, or the room for them until their code is loaded. */
function StandPlace(props: StandProps) {
  const { texts } = usePage()
  const part = usePart(stand, true)
  if (part.kind === 'failed') return <PartFailed />
  if (part.kind === 'ready') return <part.code.Stand {...props} />
  return (
    <>
      <Skeletons label={texts.inventoryLoading} />
      <span className="summary-room" />
    </>
  )
}

function PartFailed() {
  const { texts } = usePage()
  return (
    <div className="part-failed" role="alert">
      <p>{texts.partFailed}</p>
      <ReloadPage />
    </div>
  )
}

/** Shown if the rest of the page's code failed to load. */
function PageFailed() {
  return (
    <>
      <Header>
        <span className="brand">Tradetill</span>
      </Header>
      <main className="message-page">
        <PartFailed />
      </main>
    </>
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
              {' '}
              {texts.depositFor} <bdi className="header-customer">{payment.customerLabel}</bdi>
            </>
          )}
        </span>
      </h1>
      <span className="deposit-id">#{payment.id}</span>
    </Header>
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
