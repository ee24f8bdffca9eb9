import { useEffect, useId, useRef, useState } from 'react'
import { GAME_FACTS, type Game } from '../../contract/games.ts'
import type { Flow } from '../flow/runner.ts'
import { SORTS, type Sort, type Stand } from '../flow/state.ts'
import { useNarrow } from '../ui/hooks.ts'
import { CloseIcon, ReloadIcon, SearchIcon, SortIcon } from '../ui/icons.tsx'
import { useStandTexts } from './texts.ts'

type Props = { stand: Stand; flow: Flow }

/** Focuses the search field. On a narrow screen, the field may be closed: then opens and focuses it. */
export function focusSearch(stand: Element): void {
  const field = stand.querySelector<HTMLElement>('.search input')
  if (field !== null) field.focus()
  else stand.querySelector<HTMLElement>('.controls [aria-expanded=false]')?.click()
}

export function Controls({ stand, games, flow }: Props & { games: readonly Game[] }) {
  const { texts } = useStandTexts()
  const isNarrow = useNarrow()
  const [isSearchOpen, setSearchOpen] = useState(stand.search !== '')
  const isLoading = stand.inventory.status === 'loading'
  const closeSearch = (): void => {
    flow.dispatch({ kind: 'searchTyped', text: '' })
    setSearchOpen(false)
  }
  return (
    <div className={`controls ${isNarrow ? 'controls-mobile' : 'controls-desktop'}`}>
      <GameSelect stand={stand} games={games} flow={flow} />
      {!isNarrow && <SearchField stand={stand} flow={flow} />}
      <SortSelect stand={stand} flow={flow} />
      {isNarrow && (
        <button
          type="button"
          className="icon-button framed"
          aria-expanded={isSearchOpen}
          aria-label={isSearchOpen ? texts.searchClose : texts.searchOpen}
          onClick={() => (isSearchOpen ? closeSearch() : setSearchOpen(true))}
        >
          {isSearchOpen ? <CloseIcon /> : <SearchIcon />}
        </button>
      )}
      <button
        type="button"
        className={isLoading ? 'icon-button framed turning' : 'icon-button framed'}
        aria-label={texts.reload}
        // Not disabled, because that would take the focus from a shopper who has just pressed it.
        aria-disabled={isLoading}
        onClick={() => !isLoading && flow.dispatch({ kind: 'reloadPressed' })}
      >
        <ReloadIcon />
      </button>
      {isNarrow && isSearchOpen && <SearchField stand={stand} flow={flow} focusesOnMount />}
    </div>
  )
}

function GameSelect({ stand, games, flow }: Props & { games: readonly Game[] }) {
  const { texts } = useStandTexts()
  const name = useId()
  return (
    <fieldset className="games">
      <legend className="visually-hidden">{texts.game}</legend>
      {games.map((game) => (
        <label key={game} className={game === stand.game ? 'game game-chosen' : 'game'}>
          <input
            type="radio"
            className="visually-hidden"
            name={name}
            value={game}
            checked={game === stand.game}
            aria-label={GAME_FACTS[game].title}
            onChange={() => flow.dispatch({ kind: 'gameChosen', game })}
          />
          {texts.games[game]}
        </label>
      ))}
    </fieldset>
  )
}

function SearchField({ stand, flow, focusesOnMount = false }: Props & { focusesOnMount?: boolean }) {
  const { texts } = useStandTexts()
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (focusesOnMount) input.current?.focus()
  }, [focusesOnMount])
  return (
    <label className="search">
      <SearchIcon />
      <span className="visually-hidden">{texts.search}</span>
      <input
        ref={input}
        type="search"
        aria-keyshortcuts="/"
        value={stand.search}
        maxLength={100}
        placeholder={texts.search}
        onChange={(event) => flow.dispatch({ kind: 'searchTyped', text: event.target.value })}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || stand.search === '') return
          // Not every browser clears the field itself. In a frame of the store's page, a second Esc closes the payment.
          event.preventDefault()
          flow.dispatch({ kind: 'searchTyped', text: '' })
        }}
      />
    </label>
  )
}

function SortSelect({ stand, flow }: Props) {
  const { texts } = useStandTexts()
  return (
    <label className="sort">
      <span className="visually-hidden">{texts.sort}</span>
      <select
        value={stand.sort}
        onChange={(event) => flow.dispatch({ kind: 'sortChosen', sort: event.target.value as Sort })}
      >
        {SORTS.map((sort) => (
          <option key={sort} value={sort}>
            {texts.sorts[sort]}
          </option>
        ))}
      </select>
      <SortIcon />
    </label>
  )
}
