import { useState } from 'react'
import type { Failure } from '../api/call.ts'
import { signIn } from '../api/passkey.ts'
import { Failed } from '../ui/parts.tsx'

export function SignIn({ why, onIn }: { why: string | undefined; onIn: () => void }) {
  const [failure, setFailure] = useState<Failure | undefined>(
    why === undefined ? undefined : { kind: 'failed', message: why },
  )
  const [isBusy, setBusy] = useState(false)
  const submit = async (): Promise<void> => {
    setBusy(true)
    const reply = await signIn()
    setBusy(false)
    if (reply.ok) onIn()
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
