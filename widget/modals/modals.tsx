import './dialog.css'
import './dialog-end.css'
import './steps.css'
import type { ReactNode } from 'react'
import type { Flow } from '../flow/runner.ts'
import type { FlowState } from '../flow/state.ts'
import { AfterDialog } from '../ui/dialog.tsx'
import { Completed } from './completed.tsx'
import { Confirmation } from './confirmation.tsx'
import { CreationError } from './creation-error.tsx'
// Imported after the dialog's own styles, because it overrides them.
import './short-screen.css'

type Props = { state: FlowState; flow: Flow; toasts: ReactNode }

/** One modal at a time, chosen by the state alone. */
export function Modals({ toasts, ...props }: Props) {
  return (
    <AfterDialog value={toasts}>
      <Modal {...props} />
    </AfterDialog>
  )
}

function Modal({ state, flow }: Omit<Props, 'toasts'>) {
  const { modal, payment } = state
  if (payment === null) return null
  switch (modal.kind) {
    case 'none':
      return null
    case 'creating':
    case 'joining':
    case 'confirming':
      return <Confirmation state={state} payment={payment} flow={flow} />
    case 'completed':
      return (
        <Completed key={modal.outcome} outcome={modal.outcome} hasAlarm={modal.hasAlarm} payment={payment} />
      )
    case 'creationError':
      return <CreationError refusal={modal.refusal} backToStoreUrl={payment.backToStoreUrl} flow={flow} />
    default:
      return modal satisfies never
  }
}
