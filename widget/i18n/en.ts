/** Every text of a deposit's page in English, for code that needs all of them. The page itself loads them in parts. */
import { guideTexts } from './guide.ts'
import { modalTexts } from './modals.ts'
import { pageTexts } from './page.ts'
import { restTexts } from './rest.ts'
import { standTexts } from './stand.ts'

export const en = { ...pageTexts.en, ...restTexts.en, ...guideTexts.en, ...standTexts.en, ...modalTexts.en }

export type Messages = typeof en
