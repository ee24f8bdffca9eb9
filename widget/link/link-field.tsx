import './link-field.css'
import {
  type ClipboardEvent,
  type ComponentType,
  type RefObject,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import type { Payment, User } from '../../contract/widget-api.ts'
import { isEmbedded } from '../embed.ts'
import type { Flow } from '../flow/runner.ts'
import type { LinkState, Page, Refusal, Stand } from '../flow/state.ts'
import type { PageTexts } from '../i18n/page.ts'
import { steamAddress, usePage } from '../page.tsx'
import { useNarrow } from '../ui/hooks.ts'
import { CloseIcon } from '../ui/icons.tsx'
import { OutsideLink } from '../ui/outside-link.tsx'
import { tradeLinkIn } from './pasted.ts'

/** The most characters in the field: many more than in a link, so a text with a link in it can be checked too. */
const LONGEST_TEXT = 2000

export type OwnerProps = { user: User; isValid: boolean; fold: Fold | null }

/** The button that folds the field away and opens it. */
type Fold = { button: RefObject<HTMLButtonElement | null>; isFolded: boolean; toggle(): void }

export type TroubleProps = { link: LinkState; isStale: boolean; flow: Flow }

export type NextStepProps = { refusal: Refusal; payment: Payment; flow: Flow }

/** Components that load with the rest of the page. They show the result of the link's check. */
export type LinkParts = {
  Owner: ComponentType<OwnerProps>
  LinkTrouble: ComponentType<TroubleProps>
  NextStep: ComponentType<NextStepProps>
}

type Props = {
  page: Extract<Page, { link: LinkState }>
  payment: Payment
  flow: Flow
  parts: LinkParts | null
}

/** A known account takes one row, with its link behind a button. */
export function LinkField({ page, payment, flow, parts }: Props) {
  const isNarrow = useNarrow()
  const user = page.stage === 'wait-for-select-items' ? page.stand.user : null
  const isStale = page.stage === 'wait-for-select-items' && hasStaleLink(page.stand)
  const isFoldable = user !== null && !isStale
  const { field, fold } = useFolded(isFoldable, user === null)
  return (
    <section className={`link-panel ${isNarrow ? 'link-panel-mobile' : 'link-panel-desktop'}`}>
      {user !== null && parts !== null && (
        <parts.Owner user={user} isValid={!isStale} fold={isFoldable ? fold : null} />
      )}
      <div className="link-field" hidden={fold.isFolded}>
        {/* Inside, because Chromium blurs the element itself as soon as it gets `hidden`, before the focus can move. */}
        <div className="link-focus" ref={field} tabIndex={-1}>
          <Field page={page} payment={payment} flow={flow} parts={parts} isStale={isStale} field={field} />
        </div>
      </div>
    </section>
  )
}

/** Tracks whether the field is folded, and moves the focus when the field folds or opens. */
function useFolded(isFoldable: boolean, isAsking: boolean) {
  const [isOpen, setOpen] = useState(false)
  const field = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const isFolded = isFoldable && !isOpen
  useEffect(() => {
    // Start folded for the next account.
    if (isAsking) setOpen(false)
  }, [isAsking])
  useLayoutEffect(() => {
    if (isFolded && field.current?.contains(document.activeElement) === true) button.current?.focus()
  }, [isFolded])
  useEffect(() => {
    if (!isFoldable || !isOpen) return
    const input = field.current?.querySelector('input')
    input?.focus()
    input?.select()
  }, [isFoldable, isOpen])
  const fold: Fold = { button, isFolded, toggle: () => setOpen((before) => !before) }
  return { field, fold }
}

type FieldProps = Props & { isStale: boolean; field: RefObject<HTMLDivElement | null> }

function Field({ page, payment, flow, parts, isStale, field }: FieldProps) {
  const { texts } = usePage()
  const id = useId()
  const { link } = page
  const isKnown = page.stage === 'wait-for-select-items'
  const input = useFocus({ isStale, isEmpty: link.status === 'idle' && link.text === '' })
  // The code that says what is wrong loads with the rest of the page.
  const Trouble =
    link.status === 'invalid' || link.status === 'failed' || isStale ? parts?.LinkTrouble : undefined
  const isWrong = Trouble !== undefined
  const type = (text: string): void => flow.dispatch({ kind: 'linkTyped', text })
  /** Agrees to the link of an earlier visit, or asks about a refused link again. */
  const confirm = (): void =>
    flow.dispatch({ kind: link.status === 'failed' ? 'retryPressed' : 'storedLinkConfirmed' })
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
          aria-invalid={isWrong}
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
      <p id={`${id}-note`} className={isWrong ? 'link-note link-note-error' : 'link-note'} aria-live="polite">
        {Trouble === undefined ? noteOf(link, texts) : <Trouble link={link} isStale={isStale} flow={flow} />}
      </p>
      {!isKnown && link.status !== 'stored' && (
        <p className="link-step">
          {link.status === 'failed' && parts !== null ? (
            <parts.NextStep refusal={link.refusal} payment={payment} flow={flow} />
          ) : (
            <OutsideLink href={steamAddress('tradeSettings')} look="button" text={texts.tradeSettings} />
          )}
        </p>
      )}
      {link.status === 'stored' && <Continue field={field} noteId={`${id}-note`} onPress={confirm} />}
    </>
  )
}

function noteOf({ status }: LinkState, texts: PageTexts): string | null {
  if (status === 'resolved') return null
  if (status === 'stored') return texts.tradeLinkStored
  return status === 'debouncing' || status === 'checking' ? texts.tradeLinkChecking : texts.tradeLinkWhy
}

/** Focuses the field if its link must change. Focuses an empty field on a wide page if nothing else has the focus. */
function useFocus({ isStale, isEmpty }: { isStale: boolean; isEmpty: boolean }) {
  const isNarrow = useNarrow()
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (!isStale) return
    input.current?.focus()
    input.current?.select()
  }, [isStale])
  useEffect(() => {
    if (isEmpty && !isNarrow && document.activeElement === document.body) input.current?.focus()
  }, [isEmpty, isNarrow])
  return input
}

/** True if Steam knew the account, but has refused the link's token since. */
export const hasStaleLink = ({ inventory }: Stand): boolean =>
  inventory.status === 'error' && inventory.type === 'invalidPartner'

/** False outside a secure context, where no page can read the clipboard, and in a frame, which may not use it. */
const mayPaste = (): boolean => !isEmbedded() && navigator.clipboard?.readText !== undefined

type PasteProps = { onText(text: string): void; onRefused(): void; field: RefObject<HTMLElement | null> }

/** For shoppers without a keyboard to paste with. The browser may ask for permission. */
function PasteButton({ onText, onRefused, field }: PasteProps) {
  const { texts } = usePage()
  const paste = (): void => {
    navigator.clipboard.readText().then((text) => {
      // The button disappears once the field has text.
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

type FieldActions = { type(text: string): void; confirm(): void }

/** If a paste contains one trade link, puts only that link into the field. */
function putLink(event: ClipboardEvent, current: string, { type, confirm }: FieldActions): void {
  const pasted = tradeLinkIn(event.clipboardData.getData('text'))
  if (pasted === undefined) return
  event.preventDefault()
  // Pasting the same link again changes no text, but counts as consent, and asks about a refused link again.
  if (pasted === current.trim()) confirm()
  else type(pasted)
}

type ContinueProps = { field: RefObject<HTMLElement | null>; noteId: string; onPress(): void }

/** Takes the focus when it appears. A press moves the focus to the field around it, so Tab continues from there. */
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
