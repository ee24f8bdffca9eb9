import {
  type FormEvent,
  type ReactNode,
  type RefObject,
  useContext,
  useEffect,
  useRef,
  useState,
} from 'react'
import { call, forgetSession } from './api/call.ts'
import { Me } from './me.ts'
import { isAt, MENU, nameOfPage } from './pages.tsx'
import { CloseFoot, Dialog } from './ui/dialog.tsx'
import { PageLink } from './ui/link.tsx'
import { go, type Place } from './ui/place.ts'

export function Frame({ place, children }: { place: Place; children: ReactNode }) {
  const me = useContext(Me)
  const [showsKeys, setShowsKeys] = useState(false)
  const search = useRef<HTMLInputElement>(null)
  const menu = useRef<HTMLElement>(null)
  useKeys({ onFind: () => search.current?.focus(), onHelp: () => setShowsKeys(true) })
  useEffect(() => {
    document.title = `${nameOfPage(place.path)} · Tradetill console`
    // On a narrow page, the menu is one line. Keep the current entry visible.
    const current = menu.current?.querySelector<HTMLElement>('[aria-current]')
    if (menu.current && current)
      menu.current.scrollLeft = current.offsetLeft - (menu.current.clientWidth - current.offsetWidth) / 2
  }, [place.path])

  return (
    <>
      {me.isSandbox && (
        <p className="sandbox-banner">
          Sandbox: no real items, no real money. You signed in without a passkey, with the link that npm start
          prints.
        </p>
      )}
      <a className="skip" href="#page">
        Skip to the page
      </a>
      <header className="top">
        <PageLink to="/" className="brand">
          Tradetill
        </PageLink>
        <Find place={place} field={search} />
        <SignedInOperator />
      </header>
      <nav className="menu" aria-label="Pages" ref={menu}>
        <ul>
          {MENU.map(([to, name]) => (
            <li key={to}>
              <PageLink to={to} isCurrent={isAt(place.path, to)}>
                {name}
              </PageLink>
            </li>
          ))}
        </ul>
      </nav>
      <main id="page" tabIndex={-1}>
        {children}
      </main>
      {showsKeys && <Keys onClose={() => setShowsKeys(false)} />}
    </>
  )
}

function Find({ place, field }: { place: Place; field: RefObject<HTMLInputElement | null> }) {
  const onFind = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const typed = field.current?.value.trim() ?? ''
    if (typed === '') return
    go(`/find?${new URLSearchParams({ text: typed })}`)
    // Focus the page, so its keys work immediately.
    document.querySelector<HTMLElement>('#page')?.focus()
  }
  return (
    <search className="find">
      <form onSubmit={onFind}>
        <input
          ref={field}
          key={place.query.get('text') ?? ''}
          type="search"
          name="text"
          aria-label="Find a link, number, order, account, offer, asset, code or name"
          placeholder="Find anything ( / )"
          defaultValue={place.path === '/find' ? (place.query.get('text') ?? '') : ''}
          maxLength={500}
          autoComplete="off"
          spellCheck={false}
        />
      </form>
    </search>
  )
}

function SignedInOperator() {
  const { name, role } = useContext(Me)
  const signOut = async (): Promise<void> => {
    await call('sign-out')
    forgetSession()
    location.assign('/')
  }
  return (
    <div className="person">
      <span>
        {name} <span className="quiet">({role})</span>
      </span>
      <button type="button" className="link" onClick={() => void signOut()}>
        Sign out
      </button>
    </div>
  )
}

const KEYS = [
  ['/', 'find'],
  ['j', 'next row'],
  ['k', 'previous row'],
  ['Enter', 'open the row'],
  ['g then o, d, s, b, m', 'go to Overview, Deposits, Stores, Bots, Money'],
  ['?', 'show the keys'],
  ['Esc', 'close'],
] as const

function Keys({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="keys">
        {KEYS.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <CloseFoot onClose={onClose} />
    </Dialog>
  )
}

const PAGES_AFTER_G: Record<string, string> = {
  o: '/',
  d: '/deposits',
  s: '/stores',
  b: '/bots',
  m: '/money',
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('input, select, textarea, dialog') !== null

function useKeys({ onFind, onHelp }: { onFind: () => void; onHelp: () => void }): void {
  const handlers = useRef({ onFind, onHelp })
  handlers.current = { onFind, onHelp }
  useEffect(() => {
    let isAfterG = false
    const onKey = (event: KeyboardEvent): void => {
      if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return
      const to = isAfterG ? PAGES_AFTER_G[event.key] : undefined
      isAfterG = event.key === 'g'
      if (to !== undefined) go(to)
      else if (event.key === '/') handlers.current.onFind()
      else if (event.key === '?') handlers.current.onHelp()
      else if (event.key === 'j') focusRow(1)
      else if (event.key === 'k') focusRow(-1)
      else if (event.key === 'Enter') {
        openRow(event)
        return
      } else return
      event.preventDefault()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

function focusRow(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')]
  const focusedIndex = rows.findIndex((row) => row.contains(document.activeElement))
  const target = rows[focusedIndex === -1 ? (step === 1 ? 0 : rows.length - 1) : focusedIndex + step]
  target?.focus()
}

function openRow({ target }: KeyboardEvent): void {
  if (target instanceof HTMLElement && target.matches('[data-row]')) target.querySelector('a')?.click()
}
