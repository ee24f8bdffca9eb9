import './toasts.css'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { useRestTexts } from '../parts/texts.ts'
import { CloseIcon, InfoIcon, TickIcon, WarningIcon } from '../ui/icons.tsx'
import { type ShownToast, shownToasts } from './shown-toasts.ts'
import type { ToastStore, ToastType } from './store.ts'

const ICONS: Record<ToastType, () => React.ReactNode> = {
  info: () => <InfoIcon />,
  success: () => <TickIcon size={18} />,
  warning: () => <WarningIcon />,
  error: () => <CloseIcon />,
}

/** The same duration as `--toast` in styles/tokens.css. */
const LEAVE_MS = 400

/** The toasts on the page. A removed one fades out first, unless the shopper prefers reduced motion. */
function useShown(store: ToastStore): readonly ShownToast[] {
  const toasts = useSyncExternalStore(store.subscribe, store.list, store.list)
  const [before, setBefore] = useState<readonly ShownToast[]>([])
  const shown = shownToasts(before, toasts)
  if (shown !== before) setBefore(shown)
  const leavingCount = shown.filter((each) => each.isLeaving).length
  useEffect(() => {
    if (leavingCount === 0) return
    const reducesMotion = matchMedia('(prefers-reduced-motion: reduce)').matches
    const removeLeaving = (): void => setBefore((latest) => latest.filter((each) => !each.isLeaving))
    const timer = setTimeout(removeLeaving, reducesMotion ? 0 : LEAVE_MS)
    return () => clearTimeout(timer)
  }, [leavingCount])
  return shown
}

export function Toasts({ store }: { store: ToastStore }) {
  const toasts = useShown(store)
  const { texts } = useRestTexts()
  return (
    <section
      className={toasts.length === 0 ? 'toasts toasts-empty' : 'toasts'}
      aria-label={texts.toasts}
      aria-live="polite"
    >
      {toasts.map(({ toast, isLeaving }) => (
        <button
          type="button"
          key={toast.id}
          className={`toast toast-${toast.type}${isLeaving ? ' toast-leaving' : ''}`}
          onClick={() => store.click(toast.id)}
        >
          <span className="toast-icon">{ICONS[toast.type]()}</span>
          <span className="toast-text">
            <span className="visually-hidden">{texts.toastTypes[toast.type]}: </span>
            <strong>{toast.title}</strong>
            {toast.message !== '' && <span>{toast.message}</span>}
          </span>
        </button>
      ))}
    </section>
  )
}
