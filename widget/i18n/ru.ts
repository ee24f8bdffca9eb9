import type { Messages } from './en.ts'
import { guideTexts } from './guide.ts'
import { modalTexts } from './modals.ts'
import { pageRu } from './page.ru.ts'
import { standTexts } from './stand.ts'

/** Every text of a deposit in Russian. */
export const ru: Partial<Messages> = { ...pageRu, ...guideTexts.ru, ...standTexts.ru, ...modalTexts.ru }
