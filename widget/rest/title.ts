/** The tab's title and icon, which a shopper sees while on Steam's page. */
import { useEffect } from 'react'
import type { Payment } from '../../contract/widget-api.ts'
import { secondsLeft } from '../flow/selectors.ts'
import type { FlowState } from '../flow/state.ts'
import { formatTimer } from '../i18n/format.ts'
import type { RestTexts } from '../i18n/rest.ts'
import { useRestTexts } from '../parts/texts.ts'
import { useNow, useTitle } from '../ui/hooks.ts'

type Wording = { texts: Pick<RestTexts, 'tabTitles'>; money(minor: number): string }

/** Returns the deposit's next step or result, then its store and number, so the tabs of two deposits differ. */
export function titleOf({ payment, modal }: FlowState, seconds: number | null, wording: Wording): string {
  const { tabTitles } = wording.texts
  if (payment === null) return 'Tradetill'
  const storeAndNumber = `${payment.storeName} #${payment.id}`
  const withStore = (state: string): string => `${state} – ${storeAndNumber}`
  const { status, amount } = payment
  if (status === 'created') {
    const isPicking = modal.kind === 'none' || modal.kind === 'creationError'
    return withStore(isPicking ? tabTitles.created : tabTitles.creating)
  }
  if (status === 'pending')
    return withStore(`${seconds === null ? '' : `${formatTimer(seconds)} · `}${tabTitles.pending}`)
  if (status !== 'succeeded' || payment.takenBack === 'all') return withStore(tabTitles.ended)
  return withStore(amount === null ? tabTitles.succeeded : `${tabTitles.succeeded} ${wording.money(amount)}`)
}

/** Returns the tab's icon, all that a shopper sees of a tab when many are open. */
export function iconOf(payment: Pick<Payment, 'status' | 'takenBack'> | null): string {
  if (payment?.status === 'pending') return '/icon-waiting.svg'
  return payment?.status === 'succeeded' && payment.takenBack !== 'all' ? '/icon-done.svg' : '/icon.svg'
}

function useIcon(address: string): void {
  useEffect(() => {
    document.querySelector('link[rel=icon]')?.setAttribute('href', address)
  }, [address])
}

/** A separate component, so nothing else renders again every second. */
export function DepositTitle({ state }: { state: FlowState }): null {
  const { texts, money } = useRestTexts()
  const { payment, deadlineMs } = state
  const seconds = secondsLeft(deadlineMs, useNow(payment?.status === 'pending' && deadlineMs !== null))
  const title = titleOf(state, seconds, {
    texts,
    money: (minor) => money(minor, payment?.currency ?? 'USD'),
  })
  useTitle(title)
  useIcon(iconOf(payment))
  return null
}
