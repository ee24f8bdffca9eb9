import { standTexts } from '../i18n/stand.ts'
import { pageWith } from '../parts/texts.ts'

/** Hook: the page's language and texts, with those of the stand (the shopper's items and the payment). */
export const useStand = pageWith(standTexts)
