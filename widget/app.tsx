import { Component, lazy, type ReactNode, Suspense, useCallback, useState } from 'react'
import { FALLBACK_LANGUAGE, type Language } from '../contract/languages.ts'
import { PageProvider } from './page.tsx'
import { languageAsked, type Route, routeOf } from './route.ts'
import { Deposit } from './screens/deposit.tsx'
import { Home } from './screens/home.tsx'
import { NotFound } from './screens/not-found.tsx'
import { storedLanguage, storeLanguage } from './storage.ts'

const Help = lazy(async () => ({ default: (await import('./screens/help.tsx')).Help }))
const Landing = lazy(async () => ({ default: (await import('./screens/landing.tsx')).Landing }))

/** A screen that throws while rendering, or whose code cannot be loaded, becomes the 404 page. */
class Guard extends Component<{ fallback: ReactNode; children: ReactNode }, { failed: boolean }> {
  override state = { failed: false }

  static getDerivedStateFromError() {
    return { failed: true }
  }

  override render() {
    return this.state.failed ? this.props.fallback : this.props.children
  }
}

/** Screens outside a deposit speak the language of the deposit that led here, else the stored one. */
function Plain({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState<Language>(
    () => languageAsked(location.search) ?? storedLanguage() ?? FALLBACK_LANGUAGE,
  )
  const choose = useCallback((chosen: Language) => {
    storeLanguage(chosen)
    // The address asked for another one: a reload must not go back to it.
    history.replaceState(null, '', location.pathname)
    setLanguage(chosen)
  }, [])
  return (
    <PageProvider language={language} onLanguage={choose}>
      <Suspense fallback={null}>{children}</Suspense>
    </PageProvider>
  )
}

function Screen({ route }: { route: Route }) {
  if (route.screen === 'deposit') return <Deposit hash={route.hash} />
  return <Plain>{PLAIN[route.screen]}</Plain>
}

const PLAIN = { landing: <Landing />, home: <Home />, help: <Help />, notFound: <NotFound /> }

export function App() {
  const [route] = useState(() => routeOf(location.pathname))
  return (
    <Guard fallback={<Screen route={{ screen: 'notFound' }} />}>
      <Screen route={route} />
    </Guard>
  )
}
