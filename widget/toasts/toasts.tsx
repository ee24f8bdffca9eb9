import { useSyncExternalStore } from 'react'
import { usePage } from '../page.tsx'
import { CloseIcon, InfoIcon, TickIcon, WarningIcon } from '../ui/icons.tsx'
import type { ToastStore, ToastType } from './store.ts'

const ICONS: Record<ToastType, () => React.ReactNode> = {
  info: () => <InfoIcon />,
  success: () => <TickIcon size={18} />,
  warning: () => <WarningIcon />,
  error: () => <CloseIcon />,
}

export function Toasts({ store }: { store: ToastStore }) {
  const toasts = useSyncExternalStore(store.subscribe, store.list)
  const { texts } = usePage()
  return (
    <section
      className={toasts.length === 0 ? 'toasts toasts-empty' : 'toasts'}
      aria-label={texts.toasts}
      aria-live="polite"
    >
      {toasts.map((toast) => (
        <button
          type="button"
          key={toast.id}
          className={`toast toast-${toast.type}`}
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
