import { useEffect } from 'react'
import { sendToStore } from '../embed.ts'
import type { FlowState } from '../flow/state.ts'
import { useRestTexts } from '../parts/texts.ts'

/** Sends messages about the deposit to the store's page, if that page shows this one in a frame. */
export function useStorePage({ payment }: FlowState): void {
  const { texts } = useRestTexts()
  const depositId = payment?.id
  const status = payment?.status
  const isOfferOpen = status === 'pending' || payment?.creating === true
  const question = isOfferOpen ? texts.closeQuestion : ''
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
