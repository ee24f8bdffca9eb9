/** All English texts of a deposit's page. The page itself loads them part by part. */
import { guideTexts } from './guide.ts'
import { modalTexts } from './modals.ts'
import { pageTexts } from './page.ts'
import { restTexts } from './rest.ts'
import { standTexts } from './stand.ts'

export const en = { ...pageTexts.en, ...restTexts.en, ...guideTexts.en, ...standTexts.en, ...modalTexts.en }

export type Messages = typeof en
