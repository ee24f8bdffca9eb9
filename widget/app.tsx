import { Component, lazy, type ReactNode, Suspense, useCallback, useState } from 'react'
import { Route, Switch } from 'wouter'
import { FALLBACK_LANGUAGE, type Language } from '../contract/languages.ts'
import { PageProvider } from './page.tsx'
import { Deposit } from './screens/deposit.tsx'
import { Home } from './screens/home.tsx'
import { NotFound } from './screens/not-found.tsx'
import { storedLanguage, storeLanguage } from './storage.ts'
import type { ToastStore } from './toasts/store.ts'
import { Toasts } from './toasts/toasts.tsx'

const Help = lazy(async () => ({ default: (await import('./screens/help.tsx')).Help }))
const Landing = lazy(async () => ({ default: (await import('./screens/landing.tsx')).Landing }))

const HASH = /^[0-9a-f]{32}$/

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

/** Screens outside a deposit speak the stored language. */
function Plain({ toasts, children }: { toasts: ToastStore; children: ReactNode }) {
  const [language, setLanguage] = useState<Language>(() => storedLanguage() ?? FALLBACK_LANGUAGE)
  const choose = useCallback((chosen: Language) => {
    storeLanguage(chosen)
    setLanguage(chosen)
  }, [])
  return (
    <PageProvider language={language} onLanguage={choose} toasts={toasts}>
      <Suspense fallback={null}>{children}</Suspense>
      <Toasts store={toasts} />
    </PageProvider>
  )
}

export function App({ toasts }: { toasts: ToastStore }) {
  const plain = (screen: ReactNode): ReactNode => <Plain toasts={toasts}>{screen}</Plain>
  return (
    <Guard fallback={plain(<NotFound />)}>
      <Switch>
        <Route path="/">{plain(<Landing />)}</Route>
        <Route path="/home">{plain(<Home />)}</Route>
        <Route path="/help">{plain(<Help />)}</Route>
        <Route path="/deposit/:hash">
          {({ hash }) => <Deposit key={hash} hash={hash} toasts={toasts} />}
        </Route>
        <Route path="/:hash">
          {({ hash }) =>
            HASH.test(hash) ? <Deposit key={hash} hash={hash} toasts={toasts} /> : plain(<NotFound />)
          }
        </Route>
        <Route>{plain(<NotFound />)}</Route>
      </Switch>
    </Guard>
  )
}
