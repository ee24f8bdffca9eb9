import { secondsLeft } from '../flow/selectors.ts'
import { formatTimer } from '../i18n/format.ts'
import { useNow } from '../ui/hooks.ts'
import { useModalTexts } from './texts.ts'

/** A full ring stands for the five minutes that a shopper has to accept. */
const FULL_RING_SECONDS = 300
const RADIUS = 26
const CIRCUMFERENCE = 2 * Math.PI * RADIUS

/** Seconds left at which the time is read out; the clock itself is silent. */
const SPOKEN = [300, 60, 30, 10]
const SPOKEN_FOR_S = 5

/** A ring and mm:ss; the last minute looks different. `unknownText` replaces the usual sentence for an unknown time. */
export function Countdown({ deadlineMs, unknownText }: { deadlineMs: number | null; unknownText?: string }) {
  const { texts } = useModalTexts()
  const seconds = secondsLeft(deadlineMs, useNow(deadlineMs !== null))
  const share = seconds === null ? 0 : Math.min(1, seconds / FULL_RING_SECONDS)
  const isLastMinute = seconds !== null && seconds <= 60
  return (
    <div className={isLastMinute ? 'countdown countdown-last' : 'countdown'}>
      <span className="countdown-ring">
        <svg viewBox="0 0 60 60" aria-hidden="true">
          <circle className="ring-track" cx="30" cy="30" r={RADIUS} />
          <circle
            className="ring-rest"
            cx="30"
            cy="30"
            r={RADIUS}
            strokeDasharray={CIRCUMFERENCE}
            strokeDashoffset={CIRCUMFERENCE * (1 - share)}
          />
        </svg>
        <span className="countdown-time" role="timer" aria-live="off">
          {formatTimer(seconds)}
        </span>
      </span>
      <p>{seconds === null ? (unknownText ?? texts.timeUnknownText) : texts.timeLeftText}</p>
      <SpokenTime seconds={seconds} />
    </div>
  )
}

function SpokenTime({ seconds }: { seconds: number | null }) {
  const { texts } = useModalTexts()
  const due = spokenAt(seconds)
  return (
    <span className="visually-hidden" role="status">
      {due !== null && texts.timeAnnounce(due)}
    </span>
  )
}

/**
 * The time that is read out at this second. It stays for some seconds, because a busy page can skip one, and is then
 * removed, so a shopper who reads the dialog later finds no old time beside the clock.
 */
export function spokenAt(seconds: number | null): number | null {
  return SPOKEN.find((at) => seconds !== null && seconds <= at && seconds > at - SPOKEN_FOR_S) ?? null
}
