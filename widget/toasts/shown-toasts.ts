import type { Toast } from './store.ts'

/** A toast on the page. `isLeaving`: the store has removed it, and it fades out. */
export type ShownToast = { toast: Toast; isLeaving: boolean }

/** Returns the toasts on the page: removed ones fade out in their place. Returns `before` if nothing changed. */
export function shownToasts(before: readonly ShownToast[], toasts: readonly Toast[]): readonly ShownToast[] {
  const shownNow: ShownToast[] = toasts.map((toast) => ({ toast, isLeaving: false }))
  before.forEach((shown, index) => {
    if (toasts.includes(shown.toast)) return
    shownNow.splice(Math.min(index, shownNow.length), 0, { ...shown, isLeaving: true })
  })
  const isUnchanged =
    shownNow.length === before.length &&
    shownNow.every(
      ({ toast, isLeaving }, index) =>
        before[index]?.toast === toast && before[index]?.isLeaving === isLeaving,
    )
  return isUnchanged ? before : shownNow
}
