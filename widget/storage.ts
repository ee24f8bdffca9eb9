/** Values that outlive a reload: the last trade link and the language. A blocked storage is an empty one. */
import { isLanguage, type Language } from '../contract/languages.ts'

const LINK = 'tradeLink'
const LANGUAGE = 'language'

function read(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

function write(key: string, value: string): void {
  try {
    localStorage.setItem(key, value)
  } catch {
    // The page works without it; the shopper pastes the link again next time.
  }
}

export function storedLanguage(): Language | null {
  const value = read(LANGUAGE)
  return isLanguage(value) ? value : null
}

export const storedLink = (): string | null => read(LINK)
export const storeLanguage = (language: Language): void => write(LANGUAGE, language)
export const storeLink = (link: string): void => write(LINK, link)
