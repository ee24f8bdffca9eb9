import { lazy, type ReactNode, Suspense, useCallback, useState } from 'react'
import { FALLBACK_LANGUAGE, type Language } from '../contract/languages.ts'
import { PageProvider } from './page.tsx'
import { PartsProvider } from './parts/parts-provider.tsx'
import { languageIn, type Route, routeOf } from './route.ts'
import { Deposit } from './screens/deposit.tsx'
import { Guard } from './screens/guard.tsx'
import { Home } from './screens/home.tsx'
import { NotFound } from './screens/not-found.tsx'
import { storedLanguage, storeLanguage } from './storage.ts'

const Help = lazy(async () => ({ default: (await import('./screens/help.tsx')).Help }))
const Landing = lazy(async () => ({ default: (await import('./screens/landing.tsx')).Landing }))

/** A screen outside a deposit. Its language is that of the deposit that led here, or else the stored one, or English. */
function OutsideDeposit({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState<Language>(
    () => languageIn(location.search) ?? storedLanguage() ?? FALLBACK_LANGUAGE,
  )
  const choose = useCallback((chosen: Language) => {
    storeLanguage(chosen)
    // Remove the language from the address, or a reload would return to it.
    history.replaceState(null, '', location.pathname)
    setLanguage(chosen)
  }, [])
  return (
    <PageProvider language={language} onLanguage={choose}>
      <Guard>
        <Suspense fallback={null}>{children}</Suspense>
      </Guard>
    </PageProvider>
  )
}

function Screen({ route }: { route: Route }) {
  if (route.screen === 'deposit') {
    return (
      <PartsProvider>
        <Deposit hash={route.hash} />
      </PartsProvider>
    )
  }
  return <OutsideDeposit>{SCREENS_OUTSIDE_DEPOSIT[route.screen]}</OutsideDeposit>
}

const SCREENS_OUTSIDE_DEPOSIT = {
  landing: <Landing />,
  home: <Home />,
  help: <Help />,
  notFound: <NotFound />,
}

/** Stands in for a screen that broke before it had a language. */
function Broken() {
  return (
    <OutsideDeposit>
      <NotFound isCrash />
    </OutsideDeposit>
  )
}

export function App() {
  const [route] = useState(() => routeOf(location.pathname))
  return (
    <Guard fallback={<Broken />}>
      <Screen route={route} />
    </Guard>
  )
}
