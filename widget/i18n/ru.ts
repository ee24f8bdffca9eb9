import type { Messages } from './en.ts'
import { modalTexts } from './modals.ts'
import { pageRu } from './page.ru.ts'

/** Every text of a deposit in Russian. */
export const ru: Partial<Messages> = { ...pageRu, ...modalTexts.ru }
