import type { Payment } from '../../contract/widget-api.ts'
import { formatDate } from '../i18n/format.ts'
import { useRestTexts } from './texts.ts'

type Props = { payment: Payment | null; children?: string }

/** The notice of maintenance (`technicalWorks`): a sentence of ours, the operator's own words, and the planned end. */
export function MaintenanceNotice({ payment, children = '' }: Props) {
  const { texts, language } = useRestTexts()
  const { technicalWorksText: operatorText, technicalWorksUntil: until } = payment ?? {}
  const end = until ? texts.technicalWorksUntil(formatDate(until, language)) : ''
  const sentences = [children, operatorText?.[language] ?? '', end].filter((each) => each !== '')
  return sentences.length === 0 ? null : <p className="notice notice-warning">{sentences.join(' ')}</p>
}
