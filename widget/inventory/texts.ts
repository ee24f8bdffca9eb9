import { standTexts } from '../i18n/stand.ts'
import { pageWith } from '../parts/texts.ts'

export const useStand = pageWith(standTexts)
