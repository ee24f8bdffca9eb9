/** Enrols a bot, or renews its token: the Steam app of its account scans a QR code and approves. */
import { type FormEvent, useContext, useEffect, useRef, useState } from 'react'
import { encode } from 'uqr'
import { mayAs } from '../../contract/operators.ts'
import { call, type Failure } from '../api/call.ts'
import { callFresh } from '../api/passkey.ts'
import { Me } from '../me.ts'
import { LabelledField, typedIn } from './act.tsx'
import { CloseFoot, Dialog, FormFoot } from './dialog.tsx'
import { Failed } from './parts.tsx'

type Props = {
  label: string
  /** The bot whose token is renewed. Without it, the approving account becomes a bot. */
  bot?: { botId: string; name: string } | undefined
  onDone: () => void
}

export function BotLogin(props: Props) {
  const me = useContext(Me)
  const [isOpen, setOpen] = useState(false)
  if (!mayAs(me.role, 'operator')) return null
  return (
    <>
      <button type="button" className="button small" onClick={() => setOpen(true)}>
        {props.label}
      </button>
      {isOpen && <LoginDialog {...props} onClose={() => setOpen(false)} />}
    </>
  )
}

type StartedLogin = { loginId: string; address: string }
type State =
  | { kind: 'asking'; failure: Failure | undefined }
  | { kind: 'busy' }
  | ({ kind: 'shown' } & StartedLogin)
  | { kind: 'done'; message: string }

function LoginDialog({ label, bot, onDone, onClose }: Props & { onClose: () => void }) {
  const [state, setState] = useState<State>({ kind: 'asking', failure: undefined })
  const isGone = useRef(false)
  useEffect(() => {
    isGone.current = false
    return () => {
      isGone.current = true
    }
  }, [])

  const begin = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    const { reason = '', checkWith = '' } = typedIn(event.currentTarget)
    setState({ kind: 'busy' })
    const reply = await callFresh<StartedLogin>('login/begin', {
      reason: reason.trim() || null,
      input: {
        ...(bot !== undefined && { bot: bot.botId }),
        ...(checkWith.trim() !== '' && { checkWith: checkWith.trim() }),
      },
    })
    if (isGone.current) {
      if (reply.ok) endLogin(reply.data)
      return
    }
    setState(reply.ok ? { kind: 'shown', ...reply.data } : { kind: 'asking', failure: reply.failure })
  }
  switch (state.kind) {
    case 'shown':
      return (
        <Dialog title={label} onClose={onClose}>
          <Waiting
            login={state}
            onEnd={(end) => {
              setState(end)
              if (end.kind === 'done') onDone()
            }}
          />
          <CloseFoot isCancel onClose={onClose} />
        </Dialog>
      )
    case 'done':
      return (
        <Dialog title={label} onClose={onClose}>
          <p role="status">{state.message}</p>
          <CloseFoot onClose={onClose} />
        </Dialog>
      )
    default:
      return (
        <Dialog title={label} onClose={onClose}>
          <Question bot={bot} state={state} label={label} onSubmit={begin} onClose={onClose} />
        </Dialog>
      )
  }
}

type QuestionProps = Pick<Props, 'bot' | 'label'> & {
  state: Extract<State, { kind: 'asking' | 'busy' }>
  onSubmit: (event: FormEvent<HTMLFormElement>) => Promise<void>
  onClose: () => void
}

function Question({ bot, label, state, onSubmit, onClose }: QuestionProps) {
  const isBusy = state.kind === 'busy'
  return (
    <>
      <p>
        {bot === undefined
          ? 'The account that approves becomes a bot of the till. You need the Steam app signed in to that account.'
          : `Gives ${bot.name} a new token. You need the Steam app signed in to this account.`}
      </p>
      <form className="form" onSubmit={(event) => void onSubmit(event)}>
        <LabelledField
          name="checkWith"
          label="Trade link of another account"
          isOptional
          hint="Optional. Used to ask Steam whether it would hold the bot’s trades."
        />
        <LabelledField name="reason" label="Reason, for the record" isOptional hint="Optional." />
        {!isBusy && state.failure !== undefined && <Failed failure={state.failure} />}
        <p className="quiet">
          As a command:{' '}
          <code>
            {bot === undefined ? 'tradetill bot enrol --phone' : `tradetill bot renew ${bot.botId}`}
          </code>
        </p>
        <FormFoot onClose={onClose} label={label} isBusy={isBusy} busyLabel="Asking Steam…" />
      </form>
    </>
  )
}

const POLL_EVERY_MS = 2_000

type WaitingProps = {
  login: StartedLogin
  onEnd: (end: Extract<State, { kind: 'asking' | 'done' }>) => void
}

const endLogin = ({ loginId }: Pick<StartedLogin, 'loginId'>): void => {
  void call('login/end', { loginId }, true)
}

/**
 * Polls until the phone has approved or the login has failed, and for the codes with which Steam replaces the first one.
 * Closing the QR code ends its login.
 */
function Waiting({ login: { loginId, address: firstAddress }, onEnd }: WaitingProps) {
  const [address, setAddress] = useState(firstAddress)
  // The page renders again during the wait for the phone, so keep the latest callback.
  const latestOnEnd = useRef(onEnd)
  useEffect(() => {
    latestOnEnd.current = onEnd
  })
  useEffect(() => {
    let timer: number | undefined
    let isOver = false
    const poll = async (): Promise<void> => {
      const reply = await call<{ botId: string | null; address?: string }>('login/look', { loginId }, true)
      if (isOver) return
      if (reply.ok && reply.data.address !== undefined) setAddress(reply.data.address)
      const isWaiting = reply.ok ? reply.data.botId === null : reply.failure.kind === 'offline'
      if (isWaiting) timer = window.setTimeout(() => void poll(), POLL_EVERY_MS)
      else
        latestOnEnd.current(
          reply.ok ? { kind: 'done', message: reply.message } : { kind: 'asking', failure: reply.failure },
        )
    }
    void poll()
    return () => {
      isOver = true
      window.clearTimeout(timer)
      endLogin({ loginId })
    }
  }, [loginId])
  return (
    <>
      <p role="status">Scan this with the bot’s Steam app and approve there. It is valid for 3 minutes.</p>
      <QrCode text={address} />
      <p className="quiet">
        <code>{address}</code>
      </p>
    </>
  )
}

function QrCode({ text }: { text: string }) {
  const { size, data } = encode(text, { border: 4 })
  const dots = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
  return (
    <svg
      className="qr-code"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label="QR code for the Steam app"
    >
      <path d={dots.join('')} />
    </svg>
  )
}
