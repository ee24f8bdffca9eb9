/**
 * Values that survive a reload: the last trade link, the language and the deposit with an open offer. A blocked storage
 * counts as empty.
 */
import { isLanguage, type Language } from '../contract/languages.ts'

const LINK = 'tradeLink'
const LANGUAGE = 'language'
const OFFER = 'openOffer'

type StorageName = 'localStorage' | 'sessionStorage'

function read(key: string, storage: StorageName = 'localStorage'): string | null {
  try {
    return globalThis[storage].getItem(key)
  } catch {
    return null
  }
}

function write(key: string, value: string, storage: StorageName = 'localStorage'): void {
  try {
    globalThis[storage].setItem(key, value)
  } catch {
    // The page works without storage: the shopper pastes the link again next time.
  }
}

export function storedLanguage(): Language | null {
  const value = read(LANGUAGE)
  return isLanguage(value) ? value : null
}

export const storedLink = (): string | null => read(LINK)
export const storeLanguage = (language: Language): void => write(LANGUAGE, language)
export const storeLink = (link: string): void => write(LINK, link)

/** The hash of the deposit whose offer this browser saw open last. */
export const storedOffer = (): string | null => read(OFFER)
export const storeOffer = (hash: string): void => write(OFFER, hash)

export function forgetOffer(hash: string): void {
  if (read(OFFER) !== hash) return
  try {
    localStorage.removeItem(OFFER)
  } catch {
    // It is read again at the next visit.
  }
}

/** Returns the language that the shopper chose for this deposit in this tab. It still applies after a reload. */
export function chosenLanguage(hash: string): Language | null {
  const [known, language] = read(LANGUAGE, 'sessionStorage')?.split(' ') ?? []
  return known === hash && isLanguage(language) ? language : null
}

export const storeChosenLanguage = (hash: string, language: Language): void =>
  write(LANGUAGE, `${hash} ${language}`, 'sessionStorage')
