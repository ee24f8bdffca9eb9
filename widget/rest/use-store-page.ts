import { useEffect } from 'react'
import { sendToStore } from '../embed.ts'
import type { FlowState } from '../flow/state.ts'
import { useRestTexts } from '../parts/texts.ts'

/** True if an offer is open, or may be soon: the page does not read the deposit while its own request is under way. */
const mayHaveOffer = ({ payment, modal }: FlowState): boolean =>
  payment?.status === 'pending' ||
  payment?.creating === true ||
  modal.kind === 'creating' ||
  modal.kind === 'confirming'

/** Sends messages about the deposit to the store's page, if that page shows this one in a frame. */
export function useStorePage(state: FlowState): void {
  const { payment } = state
  const { texts } = useRestTexts()
  const depositId = payment?.id
  const status = payment?.status
  const question = mayHaveOffer(state) ? texts.closeQuestion : ''
  const hasRedirect = payment?.redirectUrl !== undefined
  useEffect(() => {
    if (depositId === undefined || status === undefined) return
    sendToStore({ type: 'status', detail: { depositId, status }, question })
  }, [depositId, status, question])
  useEffect(() => {
    if (depositId === undefined || status === undefined) return
    // With a redirect, `redirectTo` in run.ts sends this message, after the shopper has had time to read the outcome.
    if (status === 'succeeded' && !hasRedirect)
      sendToStore({ type: 'done', detail: { depositId, status, redirectUrl: null } })
  }, [depositId, status, hasRedirect])
}
