import { expect, it } from 'vitest'
import { payment } from '../flow/test-states.ts'
import { formatDate } from '../i18n/format.ts'
import { markup } from '../test-markup.tsx'
import { WorksNotice } from './works.tsx'

const UNTIL = '2026-11-26T04:00:00.000Z'
const OPERATOR_TEXT = { en: 'We <move>.', ru: 'Мы переезжаем.' }
const works = { technicalWorks: true, technicalWorksText: OPERATOR_TEXT, technicalWorksUntil: UNTIL }

it('the notice of maintenance has the operator’s reason and the planned end, in the language of the page', () => {
  const english = markup(<WorksNotice payment={payment(works)}>Works.</WorksNotice>)
  expect(english).toContain(`Works. We &lt;move&gt;. We expect to be done by ${formatDate(UNTIL, 'en')}.`)
  const russian = markup(<WorksNotice payment={payment(works)}>Works.</WorksNotice>, 'ru')
  expect(russian).toContain(`Works. Мы переезжаем. Планируемое окончание: ${formatDate(UNTIL, 'ru')}.`)
})

it('without a reason and an end, the notice is only the page’s sentence, and without that there is no notice', () => {
  expect(markup(<WorksNotice payment={payment()}>Works.</WorksNotice>)).toContain('>Works.<')
  expect(markup(<WorksNotice payment={payment()} />)).not.toContain('notice')
})
