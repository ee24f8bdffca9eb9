import { Component, type ReactNode, useCallback, useEffect, useState } from 'react'
import { call, isOwnSession, onOtherSession, onSignedOut, readSession } from './api/call.ts'
import { follow, onChange } from './api/live.ts'
import { Frame } from './frame.tsx'
import { Me } from './me.ts'
import { Enter } from './pages/enter.tsx'
import { SignIn } from './pages/sign-in.tsx'
import { pageOf } from './pages.tsx'
import { ActDialogs } from './ui/act.tsx'
import { followClock } from './ui/format.ts'
import { Failed } from './ui/parts.tsx'
import { usePlace } from './ui/place.ts'

type State =
  | { kind: 'checking' }
  | { kind: 'signed_out'; why: string | undefined }
  | { kind: 'signed_in'; me: Me }

export function App() {
  const [state, setState] = useState<State>({ kind: 'checking' })
  const place = usePlace()

  const checkSession = useCallback(async () => {
    const session = readSession()
    if (session === null) return setState({ kind: 'signed_out', why: undefined })
    const reply = await call<Me & { now: string }>('session')
    // The session has ended, or another one began meanwhile. Then another check is under way.
    if (!isOwnSession(session)) return
    if (reply.ok) {
      const { now, ...me } = reply.data
      followClock(now)
      return setState({ kind: 'signed_in', me })
    }
    setState({ kind: 'signed_out', why: reply.failure.message })
  }, [])
  /** Reads the till's clock, which a sandbox can advance, and renders the ages on the page by it. */
  const followTill = useCallback(async () => {
    const reply = await call<{ now: string }>('session', {}, true)
    if (!reply.ok) return
    followClock(reply.data.now)
    setState((shown) => ({ ...shown }))
  }, [])
  useEffect(() => void checkSession(), [checkSession])
  useEffect(() => onChange(() => void followTill()), [followTill])
  useEffect(() => onSignedOut(() => void checkSession()), [checkSession])
  useEffect(() => onOtherSession(() => void checkSession()), [checkSession])
  const isSignedIn = state.kind === 'signed_in'
  useEffect(() => {
    if (!isSignedIn) return
    const watching = new AbortController()
    void follow(watching.signal)
    return () => watching.abort()
  }, [isSignedIn])

  if (place.path === '/enter') return <Enter onSignedIn={() => void checkSession()} />
  if (state.kind === 'checking') return <div className="skeleton" aria-busy="true" />
  if (state.kind === 'signed_out')
    return <SignIn message={state.why} onSignedIn={() => void checkSession()} />
  return (
    // The page of one operator, such as an open dialog, never becomes that of another.
    <Me key={state.me.name} value={state.me}>
      <Frame place={place}>
        <PageGuard key={place.address}>
          <ActDialogs>{pageOf(place)}</ActDialogs>
        </PageGuard>
      </Frame>
    </Me>
  )
}

/** Shows a message in place of a page that throws, so the rest of the console keeps working. */
class PageGuard extends Component<{ children: ReactNode }, { isBroken: boolean }> {
  override state = { isBroken: false }
  static getDerivedStateFromError() {
    return { isBroken: true }
  }
  override render(): ReactNode {
    if (!this.state.isBroken) return this.props.children
    return (
      <Failed failure={{ kind: 'failed', message: 'This page failed. Open another page, then come back.' }} />
    )
  }
}
