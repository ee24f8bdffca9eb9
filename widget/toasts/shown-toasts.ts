import type { Toast } from './store.ts'

/** A toast on the page. `isLeaving`: the store has removed it, and it fades out. */
export type ShownToast = { toast: Toast; isLeaving: boolean }

/** Returns the toasts on the page: removed ones fade out in their place. Returns `before` if nothing changed. */
export function shownToasts(before: readonly ShownToast[], list: readonly Toast[]): readonly ShownToast[] {
  const next: ShownToast[] = list.map((toast) => ({ toast, isLeaving: false }))
  before.forEach((shown, index) => {
    if (list.includes(shown.toast)) return
    next.splice(Math.min(index, next.length), 0, { ...shown, isLeaving: true })
  })
  const isUnchanged =
    next.length === before.length &&
    next.every(
      ({ toast, isLeaving }, index) =>
        before[index]?.toast === toast && before[index]?.isLeaving === isLeaving,
    )
  return isUnchanged ? before : next
}
