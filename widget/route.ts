/** The screen of a path. Read once, because every link to another path loads a new document. */
import { isLanguage, type Language } from '../contract/languages.ts'

export type Route =
  | { screen: 'landing' | 'home' | 'help' | 'notFound' }
  /** At the old address, `/{hash}`, only a text in the form of a hash is a deposit. */
  | { screen: 'deposit'; hash: string }

const DEPOSIT = /^\/(?:deposit\/([^/]+)|([0-9a-f]{32}))$/

/** `home` leads to the operator's own page, which can be on another site. `landing` is the till's first page. */
const SCREENS: Record<string, 'landing' | 'home' | 'help'> = {
  '': 'landing',
  '/home': 'home',
  '/help': 'help',
}

/** Returns the help page's address with the language, because a language that the store chose is not stored. */
export const helpIn = (language: Language): string => `/help?${new URLSearchParams({ language })}`

export function languageIn(search: string): Language | null {
  const value = new URLSearchParams(search).get('language')
  return isLanguage(value) ? value : null
}

export function routeOf(pathname: string): Route {
  const path = pathname.replace(/\/$/, '')
  const [, named, bare] = DEPOSIT.exec(path) ?? []
  const hash = named ?? bare
  return hash === undefined ? { screen: SCREENS[path] ?? 'notFound' } : { screen: 'deposit', hash }
}
