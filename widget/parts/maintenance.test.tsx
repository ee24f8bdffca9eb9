import { expect, it } from 'vitest'
import { payment } from '../flow/test-states.ts'
import { formatDate } from '../i18n/format.ts'
import { markup } from '../test-markup.tsx'
import { MaintenanceNotice } from './maintenance.tsx'

const UNTIL = '2026-11-26T04:00:00.000Z'
const OPERATOR_TEXT = { en: 'We <move>.', ru: 'Мы переезжаем.' }
const maintenance = { technicalWorks: true, technicalWorksText: OPERATOR_TEXT, technicalWorksUntil: UNTIL }

it('the notice of maintenance has the operator’s reason and the planned end, in the language of the page', () => {
  const english = markup(<MaintenanceNotice payment={payment(maintenance)}>Paused.</MaintenanceNotice>)
  expect(english).toContain(`Paused. We &lt;move&gt;. We expect to be done by ${formatDate(UNTIL, 'en')}.`)
  const russian = markup(<MaintenanceNotice payment={payment(maintenance)}>Paused.</MaintenanceNotice>, 'ru')
  expect(russian).toContain(`Paused. Мы переезжаем. Планируемое окончание: ${formatDate(UNTIL, 'ru')}.`)
})

it('without a reason and an end, the notice is only the page’s sentence, and without the sentence too, there is no notice', () => {
  expect(markup(<MaintenanceNotice payment={payment()}>Paused.</MaintenanceNotice>)).toContain('>Paused.<')
  expect(markup(<MaintenanceNotice payment={payment()} />)).not.toContain('notice')
})
