import './dialog.css'
import { createContext, type ReactNode, useContext, useEffect, useId, useRef } from 'react'

/** Shown in every dialog, below its own content, because outside the dialog it would be covered. */
export const AfterDialog = createContext<ReactNode>(null)

type Props = {
  /** Accessible name, if no heading inside has it. */
  name?: string
  className?: string
  /** Called on Esc or Back. Without it, the dialog stays open. */
  onClose?: () => void
  /** `titleId` is the id for the heading that names the dialog. */
  children: (titleId: string) => ReactNode
}

/** Opens the dialog and focuses it, not a link in it: its name is read first, and no link looks selected. */
function open(dialog: HTMLDialogElement): void {
  dialog.showModal()
  // The browser has focused the first link, and scrolled to it.
  dialog.focus({ preventScroll: true })
  dialog.scrollTop = 0
}

/**
 * Gives the focus back to the element that had it. If that is gone or disabled, or nothing had the focus, gives it to
 * the page's next step: the element with `data-next-step`.
 */
function giveFocusBack(focusedBefore: Element | null): void {
  if (focusedBefore instanceof HTMLElement) focusedBefore.focus({ preventScroll: true })
  if (document.activeElement !== document.body) return
  document.querySelector<HTMLElement>('[data-next-step]')?.focus({ preventScroll: true })
}

/** A modal native dialog: everything outside is inert, and the page behind does not scroll. */
export function Dialog({ name, className = '', onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  const after = useContext(AfterDialog)

  useEffect(() => {
    const element = dialog.current
    if (element === null) return
    const focusedBefore = document.activeElement
    const scrollY = window.scrollY
    const { documentElement: root } = document
    root.style.setProperty('--scrollbar', `${window.innerWidth - root.clientWidth}px`)
    open(element)
    root.classList.add('scroll-locked')
    return () => {
      element.close()
      root.classList.remove('scroll-locked')
      window.scrollTo(0, scrollY)
      giveFocusBack(focusedBefore)
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
      // After repeated Esc or Back, a browser closes it in any case. Then close it in the page's state too, or reopen it.
      onClose={(event) => {
        const { currentTarget: element } = event
        if (event.target !== element || !element.isConnected || element.open) return
        if (onClose !== undefined) return onClose()
        open(element)
      }}
      onKeyDown={(event) => {
        // Repeated Esc would close a dialog whose first cancel was prevented.
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
