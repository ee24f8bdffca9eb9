import type { Language } from '../../contract/languages.ts'
import { en, type Messages } from './en.ts'
import { ru } from './ru.ts'

const MESSAGES: Record<Language, Messages> = { en, ru: { ...en, ...ru } }

/** All texts in a language; one that a language lacks shows in English. */
export function messagesIn(language: Language): Messages {
  return MESSAGES[language]
}
