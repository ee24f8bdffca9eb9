import type { Language } from '../../contract/languages.ts'

/** English has every text. */
export type Translated<Texts> = { en: Texts } & Record<Exclude<Language, 'en'>, Partial<Texts>>

/** Returns all texts in a language. Those that it lacks are in English. */
export const textsIn = <Texts>(texts: Translated<Texts>, language: Language): Texts => ({
  ...texts.en,
  ...texts[language],
})
