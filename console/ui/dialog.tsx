import { type ReactNode, useEffect, useId, useRef } from 'react'

type Props = {
  title: string
  /** Undefined while the dialog must stay. */
  onClose: (() => void) | undefined
  children: ReactNode
}

type CloseFootProps = { onClose: () => void; isCancel?: boolean }

/** The foot of a dialog without a form. `isCancel`: closing the dialog stops what it waits for. */
export const CloseFoot = ({ onClose, isCancel = false }: CloseFootProps) => (
  <div className="dialog-foot">
    <button type="button" className={isCancel ? 'button' : 'button primary'} onClick={onClose}>
      {isCancel ? 'Cancel' : 'Close'}
    </button>
  </div>
)

type FormFootProps = Pick<Props, 'onClose'> & { label: string; isBusy: boolean; busyLabel: string }

/** The foot of a form in a dialog. `label`: of the button that sends it. */
export const FormFoot = ({ onClose, label, isBusy, busyLabel }: FormFootProps) => (
  <div className="dialog-foot">
    <button type="button" className="button" onClick={onClose} disabled={onClose === undefined}>
      Cancel
    </button>
    <button type="submit" className="button primary" disabled={isBusy}>
      {isBusy ? busyLabel : label}
    </button>
  </div>
)

/** A modal native dialog: everything outside is inert, and the focus returns after closing. */
export function Dialog({ title, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const element = dialog.current
    const focusedBefore = document.activeElement
    element?.showModal()
    return () => {
      element?.close()
      // The button that opened the dialog may have left the page meanwhile.
      const isThere = focusedBefore instanceof HTMLElement && focusedBefore.isConnected
      const target = isThere ? focusedBefore : document.querySelector<HTMLElement>('#page')
      target?.focus({ preventScroll: true })
    }
  }, [])
  /** After a second Escape, Chromium closes a dialog whatever the page does about the first. */
  const onClosedByBrowser = (): void => {
    if (dialog.current === null || dialog.current.open) return
    if (onClose === undefined) dialog.current.showModal()
    else onClose()
  }
  return (
    <dialog
      ref={dialog}
      className="dialog"
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault()
        onClose?.()
      }}
      onClose={onClosedByBrowser}
    >
      <h2 id={titleId}>{title}</h2>
      {children}
    </dialog>
  )
}
