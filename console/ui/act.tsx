import { createContext, type FormEvent, type ReactNode, useContext, useId, useState } from 'react'
import { ACTS_WITHOUT_COMMAND, mayAs, type OperatorRole } from '../../contract/operators.ts'
import type { Failure } from '../api/call.ts'
import { callFresh } from '../api/passkey.ts'
import { Me } from '../me.ts'
import { CloseFoot, Dialog, FormFoot } from './dialog.tsx'
import { Failed } from './parts.tsx'

export type Field = {
  name: string
  label: string
  hint?: string
  /** The initial text or choice. */
  value?: string
  options?: readonly string[]
  isOptional?: boolean
}

type Props = {
  /** The act's name, which is also that of its command, if it has one. */
  act: string
  label: string
  /** The act's effect, in a sentence. */
  does: ReactNode
  /** The lowest role that may carry it out. */
  needs: OperatorRole
  needsReason?: boolean
  fields?: readonly Field[]
  /** Returns the act's input from the typed texts. */
  input: (typed: Record<string, string>) => object
  onDone?: () => void
  /** Which fields of the answer are secrets, to be shown only once, with their labels: `{ apiKey: 'API key' }`. */
  secrets?: Readonly<Record<string, string>>
}

const OpenAct = createContext<(act: Props) => void>(() => {})

export function ActButton(props: Props) {
  const me = useContext(Me)
  const open = useContext(OpenAct)
  if (!mayAs(me.role, props.needs)) return null
  return (
    <button type="button" className="button small" onClick={() => open(props)}>
      {props.label}
    </button>
  )
}

/**
 * Shows the dialogs of the page's acts. A dialog stays open even if its button leaves the page with its row, because
 * its answer may contain a secret that is shown only once. The page also renders again after changes by others, but
 * until it closes, a dialog does what it said when it opened.
 */
export function ActDialogs({ children }: { children: ReactNode }) {
  const [opened, setOpened] = useState<Props>()
  return (
    <OpenAct value={setOpened}>
      {children}
      {opened !== undefined && <ActDialog {...opened} onClose={() => setOpened(undefined)} />}
    </OpenAct>
  )
}

type Outcome =
  | { kind: 'asking' }
  | { kind: 'busy' }
  | { kind: 'failed'; failure: Failure }
  | { kind: 'done'; message: string; data: Record<string, unknown> }

function ActDialog({ onClose, ...props }: Props & { onClose: () => void }) {
  const [outcome, setOutcome] = useState<Outcome>({ kind: 'asking' })
  const { act, label, does, onDone, input, secrets = {} } = props

  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    const { reason = '', ...typed } = typedIn(event.currentTarget)
    setOutcome({ kind: 'busy' })
    const body = { reason: reason.trim() || null, input: input(typed) }
    const path = `act/${act.replaceAll(' ', '-')}`
    const reply = await callFresh<Record<string, unknown>>(path, body)
    if (!reply.ok) {
      // The page reads its data again: it may list the proposal, or show whether the act was carried out.
      if (['proposed', 'unanswered'].includes(reply.failure.kind)) onDone?.()
      return setOutcome({ kind: 'failed', failure: reply.failure })
    }
    onDone?.()
    const { data, message } = reply
    setOutcome({ kind: 'done', message: message === '' ? 'Done.' : message, data })
  }
  if (outcome.kind === 'done') {
    return (
      <Dialog title={label} onClose={onClose}>
        <p role="status">{outcome.message}</p>
        {Object.entries(secrets).map(([name, title]) => {
          const secret = outcome.data[name]
          return typeof secret !== 'string' ? null : (
            <p key={name} className="secret">
              <span className="quiet">{title}, shown only once:</span> <code>{secret}</code>
            </p>
          )
        })}
        <CloseFoot onClose={onClose} />
      </Dialog>
    )
  }
  const isBusy = outcome.kind === 'busy'
  // An act under way is carried out in any case, so the dialog stays for its answer.
  const onCancel = isBusy ? undefined : onClose
  return (
    <Dialog title={label} onClose={onCancel}>
      <p>{does}</p>
      <form className="form" onSubmit={(event) => void submit(event)}>
        <ActFields {...props} />
        {outcome.kind === 'failed' && <Failed failure={outcome.failure} />}
        <CommandHint act={act} />
        <FormFoot onClose={onCancel} label={label} isBusy={isBusy} busyLabel="Working…" />
      </form>
    </Dialog>
  )
}

export const CommandHint = ({ act }: Pick<Props, 'act'>) =>
  ACTS_WITHOUT_COMMAND.includes(act) ? null : (
    <p className="quiet">
      As a command: <code>tradetill {act}</code>
    </p>
  )

export const typedIn = (form: HTMLFormElement): Record<string, string> =>
  Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]))

export const listOf = (typed: string): string[] =>
  typed
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')

function ActFields({ fields = [], needsReason = false }: Pick<Props, 'fields' | 'needsReason'>) {
  return (
    <>
      {fields.map((field) => (
        <LabelledField key={field.name} {...field} />
      ))}
      <LabelledField
        name="reason"
        label="Reason, for the record"
        isOptional={!needsReason}
        {...(!needsReason && { hint: 'Optional.' })}
      />
    </>
  )
}

export function LabelledField({ name, label, hint, value = '', options, isOptional = false }: Field) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {options === undefined ? (
        <input
          id={id}
          name={name}
          defaultValue={value}
          required={!isOptional}
          maxLength={500}
          autoComplete="off"
          spellCheck={false}
          {...(hint !== undefined && { 'aria-describedby': `${id}-hint` })}
        />
      ) : (
        <select id={id} name={name} defaultValue={value}>
          {options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      )}
      {hint !== undefined && (
        <span id={`${id}-hint`} className="quiet">
          {hint}
        </span>
      )}
    </div>
  )
}
