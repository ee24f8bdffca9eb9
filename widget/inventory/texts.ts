import { standTexts } from '../i18n/stand.ts'
import { createTextsHook } from '../parts/texts.ts'

/** Hook: the page's language and texts, with those of the stand (the shopper's items and the payment). */
export const useStandTexts = createTextsHook(standTexts)
