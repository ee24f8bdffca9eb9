/** Every text of a deposit in English, for those who need all of them at once: a shopper's page loads them in parts. */
import { guideTexts } from './guide.ts'
import { modalTexts } from './modals.ts'
import { pageEn } from './page.en.ts'
import { standTexts } from './stand.ts'

export const en = { ...pageEn, ...guideTexts.en, ...standTexts.en, ...modalTexts.en }

export type Messages = typeof en
