/** Languages of the till's texts for shoppers. */
export const LANGUAGES = ['en', 'ru'] as const

export type Language = (typeof LANGUAGES)[number]

export const FALLBACK_LANGUAGE: Language = 'en'

/** Returns our language for a tag such as `ru-RU`; undefined if we do not have it. */
export function supportedLanguage(tag: string): Language | undefined {
  const [primary = ''] = tag.toLowerCase().split('-')
  return isLanguage(primary) ? primary : undefined
}

/** Returns the first of our languages in an Accept-Language header, or else English. */
export function acceptedLanguage(header = ''): Language {
  const found = header.split(',').map((entry) => supportedLanguage((entry.split(';')[0] ?? '').trim()))
  return found.find((language) => language !== undefined) ?? FALLBACK_LANGUAGE
}

export function isLanguage(value: unknown): value is Language {
  return typeof value === 'string' && (LANGUAGES as readonly string[]).includes(value)
}

/**
 * Puts the page's language into a store's URL that contains `{LANGUAGE}`. The page does this, because the shopper can
 * change the language there.
 */
export const addressIn = (url: string, language: Language): string => url.replaceAll('{LANGUAGE}', language)
