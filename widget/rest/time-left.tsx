import { secondsLeft } from '../flow/selectors.ts'
import { formatTimer } from '../i18n/format.ts'
import { useRestTexts } from '../parts/texts.ts'
import { useNow } from '../ui/hooks.ts'

/** The time left to accept an offer, after a dot. It counts silently: the sentence before it is read out once. */
export function TimeLeft({ deadlineMs }: { deadlineMs: number | null }) {
  const { texts } = useRestTexts()
  const seconds = secondsLeft(deadlineMs, useNow(deadlineMs !== null))
  if (seconds === null) return null
  return (
    <span role="timer" aria-live="off">
      {' · '}
      {texts.offerTimeLeft(formatTimer(seconds))}
    </span>
  )
}
