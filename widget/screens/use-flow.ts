import { startTransition, useEffect, useLayoutEffect, useState } from 'react'
import { type EarlyFlow, openFlow } from '../flow/early.ts'
import { openOnPayment } from '../flow/first-steps.ts'
import type { Flow } from '../flow/runner.ts'
import { type FlowState, initialState } from '../flow/state.ts'
import { usePart } from '../parts/part.ts'
import { rest } from '../parts/rest.ts'
import {
  chosenLanguage,
  storedLanguage,
  storedLink,
  storedOffer,
  storedOpenPicks,
  storedPicks,
} from '../storage.ts'
import { includedPayment } from './included-payment.ts'

/** The flow of one deposit. */
export function useFlow(hash: string): { state: FlowState; flow: Flow } {
  const [flow] = useState(() => openFlow(firstState(hash)))
  useHandOver(flow)
  return { state: useFlowState(flow), flow }
}

/** Renders urgent changes at once, and others in slices: items drawn in one piece would delay the answer to a click. */
function useFlowState(flow: EarlyFlow): FlowState {
  const [state, setState] = useState(flow.state)
  useLayoutEffect(() => {
    const follow = (): void => setState(flow.state())
    follow()
    return flow.subscribe((urgency) => (urgency === 'soon' ? startTransition(follow) : follow()))
  }, [flow])
  return state
}

function firstState(hash: string): FlowState {
  const state = initialState(hash, {
    language: storedLanguage(),
    link: storedLink(),
    chosenLanguage: chosenLanguage(hash),
    offer: storedOffer(),
    picks: storedPicks(),
    openPicks: storedOpenPicks(hash),
  })
  const included = includedPayment(hash)
  return included === null ? state : openOnPayment(state, included.payment, included.atMs)
}

/** Hands the flow over to the rest of the page's code once that is loaded. */
function useHandOver(flow: EarlyFlow): void {
  const part = usePart(rest, true)
  const continueFlow = part.kind === 'ready' ? part.code.continueFlow : null
  useEffect(() => (continueFlow === null ? undefined : flow.handOver(continueFlow)), [flow, continueFlow])
}
