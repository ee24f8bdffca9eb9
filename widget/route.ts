/** Which screen a path shows. It is asked once: no link of the page leads to another of its paths in the same tab. */
import { isLanguage, type Language } from '../contract/languages.ts'

export type Route =
  | { screen: 'landing' | 'home' | 'help' | 'notFound' }
  /** Under its old address, `/{hash}`, only what has the form of a hash is a deposit. */
  | { screen: 'deposit'; hash: string }

const DEPOSIT = /^\/(?:deposit\/([^/]+)|([0-9a-f]{32}))$/

const SCREENS: Record<string, 'landing' | 'home' | 'help'> = {
  '': 'landing',
  '/home': 'home',
  '/help': 'help',
}

/** The help page in the language of the page that leads to it, which may be the store's choice and stored nowhere. */
export const helpIn = (language: Language): string => `/help?${new URLSearchParams({ language })}`

export function languageAsked(search: string): Language | null {
  const asked = new URLSearchParams(search).get('language')
  return isLanguage(asked) ? asked : null
}

export function routeOf(pathname: string): Route {
  const path = pathname.replace(/\/$/, '')
  const [, named, bare] = DEPOSIT.exec(path) ?? []
  const hash = named ?? bare
  return hash === undefined ? { screen: SCREENS[path] ?? 'notFound' } : { screen: 'deposit', hash }
}
