/** English comes with the page; every other language is fetched when it is wanted. */
import type { Language } from '../../contract/languages.ts'
import { en, type Messages } from './en.ts'

const SOURCES: Record<Exclude<Language, 'en'>, () => Promise<Partial<Messages>>> = {
  ru: async () => (await import('./ru.ts')).ru,
}

const loaded = new Map<Language, Messages>([['en', en]])

/** All texts in a language; one that a language lacks, or that has not come yet, shows in English. */
export function messagesIn(language: Language): Messages {
  return loaded.get(language) ?? en
}

export function hasMessages(language: Language): boolean {
  return loaded.has(language)
}

/** Resolves also when the texts cannot be had: the page then speaks English, and the next call tries again. */
export async function loadMessages(language: Language): Promise<void> {
  if (language === 'en' || loaded.has(language)) return
  try {
    loaded.set(language, { ...en, ...(await SOURCES[language]()) })
  } catch {
    // An English page is better than none.
  }
}
