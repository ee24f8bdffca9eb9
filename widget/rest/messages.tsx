import './messages.css'
import { useEffect } from 'react'
import type { Flow } from '../flow/runner.ts'
import type { FlowState } from '../flow/state.ts'
import { usePart } from '../parts/part.ts'
import { dialogs } from '../parts/parts.ts'
import { useRestTexts } from '../parts/texts.ts'
import { ReloadPage } from '../screens/reload-page.tsx'
import type { ToastStore } from '../toasts/store.ts'
import { Toasts } from '../toasts/toasts.tsx'

type Props = { state: FlowState; flow: Flow; toasts: ToastStore }

/** Above the page: a dialog or its stand-in, and the toasts. */
export function Messages({ state, flow, toasts }: Props) {
  const { page, payment, modal } = state
  // Load the modals' code after the items, but before a press on Add funds needs it.
  const isInventoryLoading =
    page.stage === 'wait-for-select-items' && page.stand.inventory.status === 'loading'
  const part = usePart(dialogs, payment !== null && (modal.kind !== 'none' || !isInventoryLoading))
  useEffect(() => flow.dispatch({ kind: 'dialogsChanged', to: part.kind }), [flow, part.kind])
  const isShown = part.kind === 'ready' && modal.kind !== 'none' && payment !== null
  return (
    <>
      {part.kind === 'ready' ? (
        <part.code.Modals state={state} flow={flow} toasts={<Toasts store={toasts} />} />
      ) : (
        <Missing state={state} />
      )}
      {!isShown && <Toasts store={toasts} />}
    </>
  )
}

/** Stands in for a dialog whose code is not loaded. */
function Missing({ state }: { state: FlowState }) {
  const { texts } = useRestTexts()
  const { dialogs, modal, payment } = state
  if (dialogs.kind === 'ready' || payment === null) return null
  const isDue = modal.kind !== 'none'
  if (!isDue && !dialogs.isPayPressed) return null
  if (dialogs.kind === 'loading')
    return (
      <p className="missing" role="status">
        <span className="spinner" aria-hidden="true" /> {texts.partLoading}
      </p>
    )
  return (
    <div className="missing" role="alert">
      <p>{isDue ? texts.stepFailed : texts.payFailed}</p>
      <ReloadPage />
    </div>
  )
}
