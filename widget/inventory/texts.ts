import { standTexts } from '../i18n/stand.ts'
import { usePage } from '../page.tsx'
import { withTexts } from '../part-texts.ts'

const pageStand = withTexts(standTexts)

export const useStand = () => pageStand(usePage())
