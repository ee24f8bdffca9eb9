import { standTexts } from '../i18n/stand.ts'
import { pageWith } from '../parts/texts.ts'

/** The page with the texts of the stand. */
export const useStand = pageWith(standTexts)
