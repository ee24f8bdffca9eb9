import type { Messages } from './en.ts'
import { guideTexts } from './guide.ts'
import { modalTexts } from './modals.ts'
import { pageTexts } from './page.ts'
import { restTexts } from './rest.ts'
import { standTexts } from './stand.ts'

export const ru: Messages = {
  ...pageTexts.ru,
  ...restTexts.ru,
  ...guideTexts.ru,
  ...standTexts.ru,
  ...modalTexts.ru,
}
