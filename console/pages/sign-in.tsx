import { useState } from 'react'
import type { Failure } from '../api/call.ts'
import { signIn } from '../api/passkey.ts'
import { Failed } from '../ui/parts.tsx'

/** `message`: why the session could not be read; undefined if the operator is only signed out. */
export function SignIn({ message, onSignedIn }: { message: string | undefined; onSignedIn: () => void }) {
  const [failure, setFailure] = useState<Failure | undefined>(
    message === undefined ? undefined : { kind: 'failed', message },
  )
  const [isBusy, setBusy] = useState(false)
  const submit = async (): Promise<void> => {
    setBusy(true)
    const reply = await signIn()
    setBusy(false)
    if (reply.ok) onSignedIn()
    else setFailure(reply.failure)
  }
  return (
    <main className="entrance">
      <h1>Tradetill console</h1>
      <p>Operators sign in with the passkey that they registered.</p>
      <button type="button" className="button primary" disabled={isBusy} onClick={() => void submit()}>
        {isBusy ? 'Waiting for your passkey…' : 'Sign in with a passkey'}
      </button>
      {failure !== undefined && <Failed failure={failure} />}
      <p className="quiet">
        No passkey here yet? The person who runs the till can make a link for you on its server:{' '}
        <code>tradetill operator link NAME</code>
      </p>
    </main>
  )
}
