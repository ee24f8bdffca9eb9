import { useId, useState } from 'react'
import type { Currency } from '../../contract/money.ts'
import type { Payment } from '../../contract/widget-api.ts'
import type { Flow } from '../flow/runner.ts'
import { selectedTotal, shownInventory } from '../flow/selectors.ts'
import type { Stand } from '../flow/state.ts'
import { amountIn, suggestedAmounts } from './amounts.ts'
import { Target } from './target.tsx'
import { useStandTexts } from './texts.ts'

type Props = { stand: Stand; payment: Payment; flow: Flow }

/** Asks for items worth an amount, suggested or typed. */
export function PickForMe({ stand, payment, flow }: Props) {
  const { texts, money } = useStandTexts()
  const id = useId()
  const inventory = shownInventory(stand)
  const isOff = stand.inventory.status !== 'ready' || payment.status !== 'created'
  const ask = (amount: number): void => flow.dispatch({ kind: 'amountAsked', amount })
  const outcome = useOutcome(stand, payment)
  const suggested = inventory === null ? [] : suggestedAmounts(inventory, payment)
  return (
    <fieldset className="picker" aria-labelledby={id}>
      <p id={id} className="picker-title">
        {texts.pickForMe}
      </p>
      <div className="picker-amounts">
        {suggested.map((amount) => (
          <button
            key={amount}
            type="button"
            className="chip"
            disabled={isOff}
            aria-pressed={stand.aim?.target === amount}
            aria-label={texts.pickItemsFor(money(amount, payment.currency))}
            onClick={() => ask(amount)}
          >
            {money(amount, payment.currency)}
          </button>
        ))}
        <TypedAmount currency={payment.currency} isOff={isOff} onAmount={ask} />
      </div>
      {/* SelectionVoice reads this note out. */}
      <p className="picker-note">{outcome ?? texts.pickHint}</p>
      {payment.targetAmount === null && <Target stand={stand} payment={payment} />}
    </fieldset>
  )
}

type TypedAmountProps = { currency: Currency; isOff: boolean; onAmount(amount: number): void }

function TypedAmount({ currency, isOff, onAmount }: TypedAmountProps) {
  const { texts } = useStandTexts()
  const [text, setText] = useState('')
  const amount = amountIn(text, currency)
  const isWrong = text.trim() !== '' && amount === undefined
  const submit = (): void => {
    if (amount !== undefined) onAmount(amount)
  }
  return (
    <span className="picker-typed">
      <input
        inputMode="decimal"
        autoComplete="off"
        maxLength={20}
        value={text}
        placeholder={texts.pickAmount}
        aria-label={texts.pickAmount}
        aria-invalid={isWrong}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => event.key === 'Enter' && !isOff && submit()}
      />
      <button type="button" className="chip" disabled={isOff || amount === undefined} onClick={submit}>
        {texts.pickGo}
      </button>
    </span>
  )
}

/**
 * The progress or result of the search for an amount; null without a search, or if the total of the picks is no longer
 * the one that it found.
 */
export function useOutcome(stand: Stand, { currency }: Payment): string | null {
  const { texts, money } = useStandTexts()
  const { aim } = stand
  if (aim === null) return null
  if (aim.search.status === 'searching') return texts.pickSearching
  const { proposal } = aim.search
  switch (proposal.kind) {
    case 'found': {
      const { total } = proposal
      if (selectedTotal(stand) !== total) return null
      const { asked, target } = aim
      if (asked < target) return texts.pickLeast(money(target, currency), money(total, currency))
      if (asked > target) return texts.pickMost(money(target, currency), money(total, currency))
      return total === target ? texts.pickExact : texts.pickOver(money(total - target, currency))
    }
    case 'short':
      return texts.pickShort(money(proposal.reach, currency))
    case 'none':
      return texts.pickNone
    default:
      return proposal satisfies never
  }
}
