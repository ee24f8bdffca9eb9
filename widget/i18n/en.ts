/** Every text of a deposit in English, for those who need all of them at once: a shopper's page loads them in parts. */
import { modalTexts } from './modals.ts'
import { pageEn } from './page.en.ts'

export const en = { ...pageEn, ...modalTexts.en }

export type Messages = typeof en
