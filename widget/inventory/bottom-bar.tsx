import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { Payment } from '../../contract/widget-api.ts'
import type { Flow } from '../flow/runner.ts'
import { isDeadEnd } from '../flow/selectors.ts'
import type { Stand } from '../flow/state.ts'
import { StoreLink } from '../parts/solution-links.tsx'
import { Clear } from './clear.tsx'
import { PayButton, usePayHint } from './pay.tsx'
import { PickForMe } from './pick-for-me.tsx'
import { Picked } from './picked.tsx'
import { Money, offerOf } from './summary.tsx'
import { Target } from './target.tsx'
import { useStandTexts } from './texts.ts'

type Props = { stand: Stand; payment: Payment; flow: Flow }

/** The bar at the bottom of a narrow page: the picked items, their credit, and what is missing before payment. */
export function BottomBar({ stand, payment, flow }: Props) {
  const { texts } = useStandTexts()
  const { block, hint } = usePayHint(stand, payment)
  const { isPicking, setPicking, button } = usePicking(stand)
  const bar = useRef<HTMLElement>(null)
  useHeight(bar)
  if (payment.status === 'pending')
    return (
      <aside ref={bar} className="bottom-bar" aria-label={texts.summary}>
        <div className="bottom-row">
          <PayButton stand={stand} payment={payment} flow={flow} />
        </div>
      </aside>
    )
  // Not a warning: the shopper has done nothing wrong yet.
  const isQuiet = block === 'loading' || block === 'nothingPicked'
  const canPick = !isDeadEnd(block)
  return (
    <aside ref={bar} className="bottom-bar" aria-label={texts.summary}>
      {hint !== null && (
        <p className={isQuiet ? 'bottom-hint bottom-hint-quiet' : 'bottom-hint'}>
          {hint} {isDeadEnd(block) && <StoreLink url={payment.backToStoreUrl} />}
        </p>
      )}
      {isPicking && canPick && <PickForMe stand={stand} payment={payment} flow={flow} />}
      {(!isPicking || payment.targetAmount !== null) && <Target stand={stand} payment={payment} />}
      {stand.selection.length > 0 && <Money stand={stand} payment={payment} isFolded />}
      <div className="bottom-row">
        <div className="bottom-sum">
          <Picked
            stand={stand}
            payment={payment}
            flow={flow}
            onEmpty={() => button.current?.focus({ preventScroll: true })}
          />
          <span className="bottom-links">
            {canPick && (
              <button
                ref={button}
                type="button"
                className="link"
                aria-label={texts.pickForMe}
                aria-expanded={isPicking}
                onClick={() => setPicking(!isPicking)}
              >
                {texts.pickOpen}
              </button>
            )}
            {(stand.selection.length > 0 || stand.cleared.length > 0) && offerOf(payment) === null && (
              <Clear stand={stand} flow={flow} className="link" isSettled={false} />
            )}
          </span>
        </div>
        <PayButton stand={stand} payment={payment} flow={flow} />
      </div>
    </aside>
  )
}

/** Sets --bar to the bar's height, so the end of the page stays above the bar, and notices are placed above it. */
function useHeight(bar: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const element = bar.current
    if (element === null) return
    const root = document.documentElement.style
    let frame = 0
    const observer = new ResizeObserver(() => {
      const height = element.offsetHeight
      cancelAnimationFrame(frame)
      // The whole page inherits --bar. Set it in the next frame: restyling the page in this one would take too long.
      frame = requestAnimationFrame(() => root.setProperty('--bar', `${height}px`))
    })
    observer.observe(element)
    return () => {
      observer.disconnect()
      cancelAnimationFrame(frame)
      root.removeProperty('--bar')
    }
  }, [bar])
}

/** Whether the form of “Pick for me” is open. It closes once items are found, and the focus returns to its button. */
function usePicking({ aim }: Stand) {
  const [isPicking, setPicking] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const search = aim?.search
  const isFound = search?.status === 'done' && search.proposal.kind === 'found'
  // biome-ignore lint/correctness/useExhaustiveDependencies: every search that finds items closes the form
  useEffect(() => {
    if (!isFound) return
    setPicking(false)
    button.current?.focus()
  }, [isFound, search])
  return { isPicking, setPicking, button }
}
