import type { Toast } from './store.ts'

/** A toast on the page; a leaving one is no longer in the list. */
export type Shown = { toast: Toast; leaving: boolean }

/** Returns the toasts on the page: removed ones keep their place and leave. Returns `before` if nothing changed. */
export function stillShown(before: readonly Shown[], list: readonly Toast[]): readonly Shown[] {
  const next: Shown[] = list.map((toast) => ({ toast, leaving: false }))
  before.forEach((shown, index) => {
    if (list.includes(shown.toast)) return
    next.splice(Math.min(index, next.length), 0, { ...shown, leaving: true })
  })
  const same =
    next.length === before.length &&
    next.every(
      ({ toast, leaving }, index) => before[index]?.toast === toast && before[index]?.leaving === leaving,
    )
  return same ? before : next
}
