import { useState } from 'react'
import type { Flow } from '../flow/runner.ts'
import type { Refusal } from '../flow/state.ts'
import { formatTime } from '../i18n/format.ts'
import { Dialog } from '../ui/dialog.tsx'
import { WarningIcon } from '../ui/icons.tsx'
import { useModal } from './texts.ts'

/** Our own text for a code we know, the server's for one we do not. */
export function CreationError({ refusal, flow }: { refusal: Refusal; flow: Flow }) {
  const { texts, language } = useModal()
  const close = (): void => flow.dispatch({ type: 'creationErrorClosed' })
  const own = refusal.code === null ? undefined : texts.creationErrors[refusal.code]
  // By the shopper's own clock: it is the one they look at.
  const [shownAt] = useState(Date.now)
  const paused =
    refusal.code === 'offers_paused' && refusal.retryAfterS !== undefined
      ? texts.offersPaused(formatTime(shownAt + refusal.retryAfterS * 1000, language))
      : undefined
  const known = refusal.code === null || refusal.code === 'trade_refused'
  return (
    <Dialog className="dialog-outcome" onClose={close}>
      {(titleId) => (
        <>
          <span className="outcome-icon outcome-bad">
            <WarningIcon />
          </span>
          <h2 id={titleId}>{texts.creationErrorTitle}</h2>
          <p>
            {paused ?? own ?? (known ? texts.creationErrorText : (refusal.detail ?? texts.creationErrorText))}
          </p>
          <button type="button" className="button primary" onClick={close}>
            {texts.close}
          </button>
        </>
      )}
    </Dialog>
  )
}
