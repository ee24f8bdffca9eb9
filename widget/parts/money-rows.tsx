import './money-rows.css'
import { useId } from 'react'
import type { Currency } from '../../contract/money.ts'
import type { Certainty, Split } from '../flow/split.ts'
import { formatDay } from '../i18n/format.ts'
import { useRestTexts } from './texts.ts'

/** `why`: the reason for the split; null to show none. `isFolded`: hides it behind a button, where room is scarce. */
type Props = {
  split: Split
  currency: Currency
  /** A sentence above the reason, in a stronger colour. */
  note?: string
  why: string | null
  isFolded?: boolean
}

export function MoneyRows({ split: { now, later, until, certainty }, currency, note, why, isFolded }: Props) {
  const { texts, money, language } = useRestTexts()
  // A change of one part changes the other, so both rows say how certain they are.
  const nowLabels: Record<Certainty, string> = {
    expected: texts.nowExpected,
    least: texts.nowAtLeast,
    final: texts.now,
  }
  const laterLabels: Record<Certainty, (day: string) => string> = {
    expected: texts.onDayExpected,
    // If nothing is promised for now, only this row is shown, and “up to” would sound as if less might come in total.
    least: now > 0 ? texts.onDayAtMost : texts.onDayOrEarlier,
    final: texts.onDay,
  }
  const month = certainty === 'final' ? 'long' : 'short'
  return (
    <div className="money">
      <dl className="money-rows">
        {(now > 0 || later === 0) && (
          <div>
            <dt>{nowLabels[certainty]}</dt>
            <dd>{money(now, currency)}</dd>
          </div>
        )}
        {later > 0 && until !== null && (
          <div>
            <dt>{laterLabels[certainty](formatDay(until, language, month))}</dt>
            <dd>{money(later, currency)}</dd>
          </div>
        )}
      </dl>
      {note !== undefined && <p className="money-why money-note">{note}</p>}
      {why !== null && (isFolded ? <Folded why={why} /> : <p className="money-why">{why}</p>)}
    </div>
  )
}

function Folded({ why }: { why: string }) {
  const { texts } = useRestTexts()
  const id = useId()
  return (
    <>
      <button type="button" className="link" popoverTarget={id}>
        {texts.why}
      </button>
      <span id={id} popover="auto" className="popover">
        {why}
      </span>
    </>
  )
}
