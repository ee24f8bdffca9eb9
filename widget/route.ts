/** Which screen a path shows. No link of the page leads to another of its paths, so it is asked once. */

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

export function routeOf(pathname: string): Route {
  const path = pathname.replace(/\/$/, '')
  const [, named, bare] = DEPOSIT.exec(path) ?? []
  const hash = named ?? bare
  return hash === undefined ? { screen: SCREENS[path] ?? 'notFound' } : { screen: 'deposit', hash }
}
