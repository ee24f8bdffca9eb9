import type { Flow } from '../flow/runner.ts'
import { secondsLeft } from '../flow/selectors.ts'
import { formatTimer } from '../i18n/format.ts'
import { useNow } from '../ui/hooks.ts'
import { useStandTexts } from './texts.ts'

/** Replaces the button Add funds while an offer is open, because a deposit has one trade at a time. */
export function BackToOffer({ flow }: { flow: Flow }) {
  const { texts } = useStandTexts()
  const { deadlineMs } = flow.state()
  const seconds = secondsLeft(deadlineMs, useNow(deadlineMs !== null))
  return (
    <button
      type="button"
      className="button primary pay"
      data-next-step
      onClick={() => flow.dispatch({ kind: 'confirmationReopened' })}
    >
      <span>
        {texts.backToOffer}
        {seconds !== null && <span aria-hidden="true"> · {formatTimer(seconds)}</span>}
      </span>
    </button>
  )
}
