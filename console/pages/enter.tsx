import { useEffect, useState } from 'react'
import type { Failure } from '../api/call.ts'
import { enterSandbox, type Invitation, readLink, register } from '../api/passkey.ts'
import { Failed } from '../ui/parts.tsx'
import { go } from '../ui/place.ts'

/** Browsers never send the part of an address after the #, so no log of addresses contains the secret. */
const secretOf = (hash: string): { kind: 'link' | 'sandbox'; secret: string } => {
  const text = hash.replace(/^#/, '')
  return text.startsWith('sandbox=')
    ? { kind: 'sandbox', secret: text.slice('sandbox='.length) }
    : { kind: 'link', secret: text }
}

type State =
  | { kind: 'reading' }
  | { kind: 'failed'; failure: Failure }
  | { kind: 'invited'; invitation: Invitation; isBusy: boolean; failure: Failure | undefined }

/** Signs in by a one-time link, or by the link that `npm start` prints. Opening a one-time link does not use it up. */
export function Enter({ onSignedIn }: { onSignedIn: () => void }) {
  const [{ kind, secret }] = useState(() => secretOf(location.hash))
  const [state, setState] = useState<State>({ kind: 'reading' })
  useEffect(() => {
    if (kind === 'sandbox') return
    void readLink(secret).then((reply) =>
      setState(
        reply.ok
          ? { kind: 'invited', invitation: reply.data, isBusy: false, failure: undefined }
          : { kind: 'failed', failure: reply.failure },
      ),
    )
  }, [kind, secret])

  const enter = (): void => {
    go('/')
    onSignedIn()
  }
  const registerPasskey = async (invitation: Invitation): Promise<void> => {
    setState({ kind: 'invited', invitation, isBusy: true, failure: undefined })
    const reply = await register(secret, invitation)
    if (reply.ok) return enter()
    setState({ kind: 'invited', invitation, isBusy: false, failure: reply.failure })
  }
  const enterWithoutPasskey = async (): Promise<void> => {
    const reply = await enterSandbox(secret)
    if (reply.ok) enter()
    else setState({ kind: 'failed', failure: reply.failure })
  }
  return (
    <main className="entrance">
      <h1>Tradetill console</h1>
      {kind === 'sandbox' && (
        <>
          <p>This is a sandbox: no real items, no real money, and no passkey is needed.</p>
          <button type="button" className="button primary" onClick={() => void enterWithoutPasskey()}>
            Enter the sandbox
          </button>
        </>
      )}
      {state.kind === 'invited' && (
        <>
          <p>
            You will sign in as <strong>{state.invitation.name}</strong> ({state.invitation.role}). Your
            device keeps a passkey for this console; nobody has to remember a password.
          </p>
          <button
            type="button"
            className="button primary"
            disabled={state.isBusy}
            onClick={() => void registerPasskey(state.invitation)}
          >
            {state.isBusy ? 'Waiting for your device…' : 'Register a passkey'}
          </button>
          {state.failure !== undefined && <Failed failure={state.failure} />}
        </>
      )}
      {state.kind === 'failed' && <Failed failure={state.failure} />}
    </main>
  )
}
