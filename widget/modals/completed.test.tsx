import { expect, it } from 'vitest'
import type { FinalDepositStatus } from '../../contract/statuses.ts'
import { confirming, having, loaded, payment } from '../flow/test-states.ts'
import { en } from '../i18n/en.ts'
import { markup } from '../test-markup.tsx'
import { Completed } from './completed.tsx'

/** A status of a newer server. */
const UNKNOWN = 'tradeReversed' as FinalDepositStatus
/** One that every object has. */
const INHERITED = 'toString' as FinalDepositStatus

const shown = (outcome: FinalDepositStatus): string =>
  markup(<Completed outcome={outcome} alarm={false} payment={payment({ status: outcome })} />)

it.each<FinalDepositStatus>(['paymentTimeout', UNKNOWN, INHERITED])(
  'A-058 D-1 %s has no icon, title or description, but a sentence and the way back',
  (status) => {
    const { modal } = having(confirming(), loaded({ status })).state
    expect(modal).toEqual({ kind: 'completed', outcome: status, alarm: false })
    const fallback = shown(status)
    expect(fallback).toContain(`aria-label="${en.depositTo('Demo')}"`)
    expect(fallback).toContain(`<p>${en.closedNote}</p>`)
    expect(fallback).toContain(`href="https://store.example/">${en.backToStore}<`)
    expect(fallback).not.toMatch(/outcome-icon|<h2|outcome-description/)
  },
)

it('a receipt for support is offered where the till has one, in the language of the page', () => {
  const receiptUrl = '/receipt/7-0123456789abcdef0123456789abcdef'
  const ended = payment({ status: 'succeeded', receiptUrl })
  const html = markup(<Completed outcome="succeeded" alarm={false} payment={ended} />)
  expect(html).toContain(`href="${receiptUrl}?lang=en"`)
  expect(html).toContain(en.receipt)
  expect(shown('succeeded')).not.toContain('/receipt/')
})

it('A-055 A-056 the first step of safety names what happened', () => {
  const [declined = ''] = en.scamSteps
  expect(shown('tradeDeclined')).toContain(`<li>${declined}</li>`)
  expect(shown('tradeCountered')).toContain(`<li>${en.counteredStep}</li>`)
  expect(shown('tradeCountered')).not.toContain(declined)
})

it('A-023 a status that has a mapping shows it', () => {
  expect(shown('tradeTimeout')).toMatch(/outcome-icon.*<h2.*outcome-description/s)
})

it('a payment that the store cancelled says so, and blames nobody for being late', () => {
  const ended = payment({ status: 'tradeTimeout', cancelledByStore: true })
  const html = markup(<Completed outcome="tradeTimeout" alarm={false} payment={ended} />)
  expect(html).toContain(en.cancelledByStore.title)
  expect(html).toContain(en.cancelledByStore.description)
  expect(html).not.toContain(en.outcomes.tradeTimeout.title)
})
