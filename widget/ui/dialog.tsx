import './dialog.css'
import { createContext, type ReactNode, useContext, useEffect, useId, useRef } from 'react'

/** Shown by every dialog below its own content: outside, it would be behind the dialog. */
export const AfterDialog = createContext<ReactNode>(null)

type Props = {
  /** Accessible name, when no heading inside carries it. */
  name?: string
  className?: string
  /** Without it neither Esc nor a click outside closes the dialog. */
  onClose?: () => void
  /** Gets the id that the naming heading must carry. */
  children: (titleId: string) => ReactNode
}

/** A modal on the native dialog: everything outside is inert, the page behind does not scroll. */
export function Dialog({ name, className = '', onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  const after = useContext(AfterDialog)

  useEffect(() => {
    const element = dialog.current
    if (element === null) return
    const before = document.activeElement
    const scrollY = window.scrollY
    const { documentElement: root } = document
    root.style.setProperty('--scrollbar', `${window.innerWidth - root.clientWidth}px`)
    element.showModal()
    // The dialog itself: its name is read first, and no link in it looks chosen.
    element.focus({ preventScroll: true })
    root.classList.add('scroll-locked')
    return () => {
      element.close()
      root.classList.remove('scroll-locked')
      window.scrollTo(0, scrollY)
      if (before instanceof HTMLElement) before.focus({ preventScroll: true })
    }
  }, [])

  return (
    <dialog
      ref={dialog}
      tabIndex={-1}
      className={`dialog ${className}`}
      {...(name === undefined ? { 'aria-labelledby': titleId } : { 'aria-label': name })}
      onCancel={(event) => {
        event.preventDefault()
        onClose?.()
      }}
      // Some browsers close it without asking: Android's second Back, a third Esc. The state decides what is shown.
      onClose={(event) => {
        const { currentTarget: element } = event
        if (event.target !== element || !element.isConnected || element.open) return
        if (onClose !== undefined) return onClose()
        element.showModal()
        element.focus({ preventScroll: true })
      }}
      onKeyDown={(event) => {
        // A second Esc would close a dialog whose first cancel was prevented.
        if (event.key === 'Escape') {
          event.preventDefault()
          onClose?.()
        }
      }}
    >
      <div className="dialog-body">{children(titleId)}</div>
      {after}
    </dialog>
  )
}
