import { type RefObject, useEffect, useId, useRef } from 'react'
import type { PriceReason } from '../../contract/widget-api.ts'
import type { Flow } from '../flow/runner.ts'
import type { PriceQuestion } from '../flow/state.ts'
import { useStandTexts } from './texts.ts'

export type Asking = {
  /** The id of the popover with the answer, which the question mark on a card opens. */
  whyId: string
  /** The item whose price the popover explains; null while it is closed. */
  questioned: string | null
  onAsk(id: string): void
  /** Closes the popover once its card is no longer drawn. */
  onGone(): void
}

export function useAsking(question: PriceQuestion | null, flow: Flow): Asking {
  const whyId = useId()
  const questioned = question?.id ?? null
  return {
    whyId,
    questioned,
    onAsk: (id) => {
      // The browser closes the popover on a second press of the same question mark.
      if (id === questioned) return
      // Otherwise a press on another question mark would only close the popover, because all of them control it.
      document.getElementById(whyId)?.hidePopover()
      flow.dispatch({ kind: 'priceQuestioned', id })
    },
    onGone: () => flow.dispatch({ kind: 'priceExplanationClosed' }),
  }
}

type Props = { id: string; question: PriceQuestion | null; flow: Flow }

/** Shows the reasons for a price next to the pressed question mark. The popover closes when its question ends. */
export function WhyPrice({ id, question, flow }: Props) {
  const popover = useRef<HTMLDivElement>(null)
  useClosing(popover, question === null)
  return (
    <div
      ref={popover}
      id={id}
      popover="auto"
      className="popover why-price"
      onToggle={({ currentTarget }) => {
        // A press on another card closes the popover and reopens it before this event: do not end the new question.
        if (!currentTarget.matches(':popover-open')) flow.dispatch({ kind: 'priceExplanationClosed' })
      }}
    >
      <div role="status">{question !== null && <Reason reason={question.reason} />}</div>
    </div>
  )
}

function useClosing(popover: RefObject<HTMLElement | null>, isOver: boolean): void {
  useEffect(() => {
    if (isOver && popover.current?.matches(':popover-open') === true) popover.current.hidePopover()
  }, [popover, isOver])
}

function Reason({ reason }: Pick<PriceQuestion, 'reason'>) {
  const { texts, money } = useStandTexts()
  if (reason === null) return texts.whyPriceAsking
  if (reason === 'unknown') return texts.whyPriceUnknown
  const { price, currency, said, rate } = reason
  return (
    <>
      <strong>{texts.whyPrice(money(price, currency))}</strong>
      {said.map((statement) => (
        <span key={statement.source} className="popover-row">
          <Statement statement={statement} />
        </span>
      ))}
      {rate !== null && (
        <span className="popover-row quiet">
          {texts.exchangeRate}: <Statement statement={rate} />
        </span>
      )}
      <span className="popover-note">{texts.whyPriceNote(said.length)}</span>
    </>
  )
}

function Statement({ statement: { source, ageSeconds } }: { statement: PriceReason['said'][number] }) {
  const { texts } = useStandTexts()
  if (ageSeconds === null) return texts.ownPrice
  return (
    <>
      <bdi>{source ?? texts.ownList}</bdi> · {texts.saidAgo(Math.floor(ageSeconds / 60))}
    </>
  )
}
