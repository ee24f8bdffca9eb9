/** English comes with the page; every other language is fetched when it is wanted. */
import type { Language } from '../../contract/languages.ts'
import { type PageTexts, pageEn } from './page.en.ts'

type Sources = Record<Exclude<Language, 'en'>, () => Promise<Partial<PageTexts>>>

export function createMessages(sources: Sources) {
  const loaded = new Map<Language, PageTexts>([['en', pageEn]])
  return {
    /** All texts in a language; one that a language lacks, or that has not come yet, shows in English. */
    messagesIn: (language: Language): PageTexts => loaded.get(language) ?? pageEn,

    hasMessages: (language: Language): boolean => loaded.has(language),

    /** Resolves also when the texts cannot be had: the page then speaks English, and the next call tries again. */
    async loadMessages(language: Language): Promise<void> {
      if (language === 'en' || loaded.has(language)) return
      try {
        loaded.set(language, { ...pageEn, ...(await sources[language]()) })
      } catch {
        // An English page is better than none.
      }
    },
  }
}

export const { messagesIn, hasMessages, loadMessages } = createMessages({
  ru: async () => (await import('./page.ru.ts')).pageRu,
})
