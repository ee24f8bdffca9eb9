import {
  type ClipboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import type { ErrorCode } from '../../contract/errors.ts'
import type { User } from '../../contract/widget-api.ts'
import { isEmbedded } from '../embed.ts'
import type { Flow } from '../flow/runner.ts'
import { isUnjudged } from '../flow/selectors.ts'
import type { LinkState, Page, Refusal, Stand } from '../flow/state.ts'
import type { PageTexts } from '../i18n/page.en.ts'
import { usePage } from '../page.tsx'
import { Avatar } from '../ui/avatar.tsx'
import { SteamDoor } from '../ui/doors.tsx'
import { useNarrow } from '../ui/hooks.ts'
import { CloseIcon, TickIcon } from '../ui/icons.tsx'
import { mistakeIn, tradeLinkIn } from './pasted.ts'

/** Longer than any link, so a text around one can be judged too. */
const LONGEST_TEXT = 2000

type Props = { page: Extract<Page, { link: LinkState }>; flow: Flow }

/** A known account is one row, and its link waits behind a button. */
export function LinkField({ page, flow }: Props) {
  const narrow = useNarrow()
  const user = page.stage === 'wait-for-select-items' ? page.stand.user : null
  // Steam knew the account, and refuses the token since.
  const stale = page.stage === 'wait-for-select-items' && isStale(page.stand)
  const isFoldable = user !== null && !stale
  const { isFolded, toggle, field, change } = useFolded(isFoldable, user === null)
  return (
    <section className={`link-panel ${narrow ? 'link-panel-mobile' : 'link-panel-desktop'}`}>
      {user !== null && (
        <Owner user={user} isValid={!stale}>
          {isFoldable && <ChangeButton button={change} isFolded={isFolded} onPress={toggle} />}
        </Owner>
      )}
      <div className="link-field" ref={field} tabIndex={-1} hidden={isFolded}>
        <Field page={page} flow={flow} stale={stale} field={field} />
      </div>
    </section>
  )
}

/** Whether the field is folded away, and where the focus goes when it folds or opens. */
function useFolded(isFoldable: boolean, isAsking: boolean) {
  const [isOpen, setOpen] = useState(false)
  const field = useRef<HTMLDivElement>(null)
  const change = useRef<HTMLButtonElement>(null)
  const isFolded = isFoldable && !isOpen
  useEffect(() => {
    // The next account is a row again.
    if (isAsking) setOpen(false)
  }, [isAsking])
  useLayoutEffect(() => {
    if (isFolded && field.current?.contains(document.activeElement) === true) change.current?.focus()
  }, [isFolded])
  useEffect(() => {
    if (!isFoldable || !isOpen) return
    const input = field.current?.querySelector('input')
    input?.focus()
    input?.select()
  }, [isFoldable, isOpen])
  return { isFolded, toggle: () => setOpen((before) => !before), field, change }
}

type ChangeProps = { button: RefObject<HTMLButtonElement | null>; isFolded: boolean; onPress(): void }

function ChangeButton({ button, isFolded, onPress }: ChangeProps) {
  const { texts } = usePage()
  return (
    <button
      ref={button}
      type="button"
      className="link link-change"
      aria-expanded={!isFolded}
      aria-label={texts.tradeLinkChange}
      onClick={onPress}
    >
      {texts.change}
    </button>
  )
}

type FieldProps = Props & { stale: boolean; field: RefObject<HTMLDivElement | null> }

function Field({ page, flow, stale, field }: FieldProps) {
  const { texts } = usePage()
  const id = useId()
  const { link } = page
  const isKnown = page.stage === 'wait-for-select-items'
  const input = useFocus({ stale, isFirst: link.status === 'idle' && link.text === '' })
  const wrong = link.status === 'invalid' || link.status === 'failed' || stale
  const type = (text: string): void => flow.dispatch({ kind: 'linkTyped', text })
  const confirm = (): void => flow.dispatch({ kind: 'storedLinkConfirmed' })
  return (
    <>
      <label htmlFor={id} className={isKnown ? 'visually-hidden' : 'link-label'}>
        {texts.tradeLink}
      </label>
      <div className="link-input">
        <input
          ref={input}
          id={id}
          type="url"
          inputMode="url"
          autoComplete="off"
          spellCheck={false}
          maxLength={LONGEST_TEXT}
          value={link.text}
          placeholder={texts.tradeLinkPlaceholder}
          readOnly={link.status === 'checking'}
          aria-invalid={wrong}
          aria-describedby={`${id}-note`}
          onChange={(event) => type(event.target.value)}
          onKeyDown={(event) => event.key === 'Enter' && confirm()}
          onPaste={(event) => putLink(event, link.text, { type, confirm })}
        />
        {link.text === '' && mayPaste() && (
          <PasteButton onText={type} onRefused={() => input.current?.focus()} field={field} />
        )}
        {link.status === 'checking' && <span className="spinner" aria-hidden="true" />}
        {link.text !== '' && link.status !== 'checking' && (
          <button
            type="button"
            className="icon-button"
            aria-label={texts.tradeLinkClear}
            onClick={() => type('')}
          >
            <CloseIcon />
          </button>
        )}
      </div>
      <p id={`${id}-note`} className={wrong ? 'link-note link-note-error' : 'link-note'} aria-live="polite">
        {stale ? texts.tradeLinkStale : <LinkNote link={link} flow={flow} />}
      </p>
      {!isKnown && link.status !== 'stored' && (
        <p className="link-door">
          <SteamDoor to="tradeSettings" look="button" />
        </p>
      )}
      {link.status === 'stored' && <Continue field={field} noteId={`${id}-note`} onPress={confirm} />}
    </>
  )
}

/** The field has the focus when it must be changed, and at first where a keyboard costs no room. */
function useFocus({ stale, isFirst }: { stale: boolean; isFirst: boolean }) {
  const narrow = useNarrow()
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (!stale) return
    input.current?.focus()
    input.current?.select()
  }, [stale])
  useEffect(() => {
    if (isFirst && !narrow && document.activeElement === document.body) input.current?.focus()
  }, [isFirst, narrow])
  return input
}

type OwnerProps = { user: User; isValid: boolean; children: ReactNode }

function Owner({ user, isValid, children }: OwnerProps) {
  const { texts } = usePage()
  return (
    <div className="link-user">
      <Avatar url={user.avatarUrl} size={46} />
      <div>
        <a className="link-name" href={user.profileUrl} target="_blank" rel="noopener noreferrer">
          {user.name}
        </a>
        {isValid && (
          <span className="link-valid">
            <TickIcon /> {texts.tradeLinkValid}
          </span>
        )}
      </div>
      {children}
    </div>
  )
}

const isStale = ({ inventory }: Stand): boolean =>
  inventory.status === 'error' && inventory.type === 'invalidPartner'

/** A browser without a secure connection has no clipboard, and the page of a store gives none to the frame in it. */
const mayPaste = (): boolean => !isEmbedded() && navigator.clipboard?.readText !== undefined

type PasteProps = { onText(text: string): void; onRefused(): void; field: RefObject<HTMLElement | null> }

/** For those who have no keys to paste with. The browser may ask them first. */
function PasteButton({ onText, onRefused, field }: PasteProps) {
  const { texts } = usePage()
  const paste = (): void => {
    navigator.clipboard.readText().then((text) => {
      // The button goes away with the empty field.
      field.current?.focus()
      onText((tradeLinkIn(text) ?? text).slice(0, LONGEST_TEXT))
    }, onRefused)
  }
  return (
    <button type="button" className="button small" onClick={paste}>
      {texts.paste}
    </button>
  )
}

type Acts = { type(text: string): void; confirm(): void }

/** A paste that contains one trade link puts just that link into the field. */
function putLink(event: ClipboardEvent, before: string, { type, confirm }: Acts): void {
  const pasted = tradeLinkIn(event.clipboardData.getData('text'))
  if (pasted === undefined) return
  event.preventDefault()
  // The same link pasted over itself changes no text, but it is consent.
  if (pasted === before.trim()) confirm()
  else type(pasted)
}

type ContinueProps = { field: RefObject<HTMLElement | null>; noteId: string; onPress(): void }

/** Has the focus while it is there, and leaves it to what is around it: the next Tab goes on from where the shopper was. */
function Continue({ field, noteId, onPress }: ContinueProps) {
  const { texts } = usePage()
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => button.current?.focus(), [])
  return (
    <button
      ref={button}
      type="button"
      className="button primary link-continue"
      aria-describedby={noteId}
      onClick={() => {
        field.current?.focus()
        onPress()
      }}
    >
      {texts.tradeLinkContinue}
    </button>
  )
}

/** Blames Steam alone when Steam does not answer. A code that this page does not know is told in the server's words. */
export function hintOf(refusal: Refusal, texts: PageTexts): string {
  if (refusal.code === 'steam_unavailable') return texts.userUnavailableHint
  if (refusal.code === 'too_many_looks') return texts.userTooManyHint
  if (isUnjudged(refusal)) return texts.userUncheckedHint
  return JUDGED.includes(refusal.code) ? texts.userFailedHint : (refusal.detail ?? texts.userFailedHint)
}

/** The link itself is wrong. */
const JUDGED: readonly (string | null)[] = [
  'user_not_found',
  'invalid_trade_link',
  'invalid_request',
] satisfies ErrorCode[]

function LinkNote({ link, flow }: { link: LinkState; flow: Flow }) {
  const { texts } = usePage()
  switch (link.status) {
    case 'idle':
      return texts.tradeLinkWhy
    case 'stored':
      return texts.tradeLinkStored
    case 'invalid':
      return texts.tradeLinkMistakes[mistakeIn(link.text)]
    case 'debouncing':
    case 'checking':
      return texts.tradeLinkChecking
    case 'failed':
      if (link.refusal.code === 'cross_site_token') return texts.cookiesNeeded
      // The same link would be refused again.
      if (link.refusal.code === 'other_shopper') return texts.otherShopper
      if (link.refusal.code === 'shopper_refused') return texts.shopperRefused
      if (link.refusal.code === 'trade_in_progress') return texts.linkOfOpenOffer
      return (
        <>
          <strong>{texts.userFailed}.</strong> {hintOf(link.refusal, texts)}{' '}
          <button type="button" className="link" onClick={() => flow.dispatch({ kind: 'retryPressed' })}>
            {texts.retry}
          </button>
        </>
      )
    case 'resolved':
      return null
    default:
      return link satisfies never
  }
}
