export type ToastType = 'info' | 'success' | 'warning' | 'error'

export type Toast = {
  id: string
  type: ToastType
  title: string
  message: string
  /** Milliseconds until it disappears automatically; 0 means never. */
  timeOut: number
  onClick?: () => void
  /** True puts it at the front of the list. */
  hasPriority: boolean
}

export type NewToast = Partial<Omit<Toast, 'id'>> & { title: string }

const TOAST_TIMEOUT_MS = 5000

type Timers = { after(ms: number, run: () => void): () => void }

export type ToastStore = {
  list(): readonly Toast[]
  subscribe(listener: () => void): () => void
  /** Adds a toast and returns its id. If an equal toast is still on the page, that one stays longer instead. */
  add(toast: NewToast): string
  /** Runs the toast's own handler, then removes it. */
  click(id: string): void
  remove(id: string): void
  clear(): void
}

function isSame(toast: Toast, wanted: Omit<Toast, 'id'>): boolean {
  const { id: _, ...shown } = toast
  const fields = Object.keys({ ...shown, ...wanted }) as (keyof typeof wanted)[]
  return fields.every((field) => shown[field] === wanted[field])
}

export function createToasts(timers: Timers, randomId: () => string): ToastStore {
  let toasts: readonly Toast[] = []
  const listeners = new Set<() => void>()
  const cancels = new Map<string, () => void>()

  function change(newToasts: readonly Toast[]): void {
    toasts = newToasts
    for (const listener of listeners) listener()
  }

  function remove(id: string): void {
    cancels.get(id)?.()
    cancels.delete(id)
    if (toasts.some((toast) => toast.id === id)) change(toasts.filter((toast) => toast.id !== id))
  }

  return {
    list: () => toasts,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    add(given) {
      const defaults = { type: 'info', message: '', timeOut: TOAST_TIMEOUT_MS, hasPriority: false } as const
      const wanted = { ...defaults, ...given }
      const equal = toasts.find((toast) => isSame(toast, wanted))
      const toast: Toast = equal ?? { ...wanted, id: randomId() }
      if (equal === undefined) change(toast.hasPriority ? [toast, ...toasts] : [...toasts, toast])
      cancels.get(toast.id)?.()
      if (toast.timeOut > 0)
        cancels.set(
          toast.id,
          timers.after(toast.timeOut, () => remove(toast.id)),
        )
      return toast.id
    },
    click(id) {
      toasts.find((toast) => toast.id === id)?.onClick?.()
      remove(id)
    },
    remove,
    clear() {
      for (const cancel of cancels.values()) cancel()
      cancels.clear()
      if (toasts.length > 0) change([])
    },
  }
}
