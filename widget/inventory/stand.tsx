import './rarities.css'
import './stand.css'
import './grid.css'
import './summary.css'
import { type KeyboardEvent, useEffect, useId, useRef } from 'react'
import { GAMES } from '../../contract/games.ts'
import { isFinal } from '../../contract/statuses.ts'
import type { Payment } from '../../contract/widget-api.ts'
import type { Flow } from '../flow/runner.ts'
import { acceptedGames, keptPicks, shownInventory } from '../flow/selectors.ts'
import type { InventoryFailure, Stand as StandState } from '../flow/state.ts'
import { useNarrow } from '../ui/hooks.ts'
import { Skeletons } from '../ui/skeletons.tsx'
import { Age } from './age.tsx'
import { BottomBar } from './bottom-bar.tsx'
import { Controls, focusSearch } from './controls.tsx'
import { Grid } from './grid.tsx'
import { useRoom } from './room.ts'
import { type ShownItems, useShownItems } from './shown-items.ts'
import { Summary } from './summary.tsx'
import { useStandTexts } from './texts.ts'
import { NothingFound, NothingUsable, Trouble } from './trouble.tsx'
import { Unavailable } from './unavailable.tsx'
import { ItemsVoice, SelectionVoice } from './voices.tsx'
import { useAsking, WhyPrice } from './why-price.tsx'

/** Exported here, so its code loads with the items, the only part that needs it. */
export { propose } from '../flow/pick.ts'

export type StandProps = { stand: StandState; payment: Payment; flow: Flow }

export function Stand({ stand, payment, flow }: StandProps) {
  const isNarrow = useNarrow()
  const shown = useShownItems(stand)
  const Panel = isNarrow ? BottomBar : Summary
  // The items of a deposit that has ended are not loaded: its outcome covers the page.
  if (stand.inventory.status === 'loading' && isFinal(payment.status)) return null
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a shortcut to a field that Tab reaches too */}
      <section className="stand" onKeyDown={searchBySlash}>
        <Controls stand={stand} games={acceptedGames(payment)} flow={flow} />
        <OnlyGames payment={payment} />
        <KeptPicks stand={stand} />
        <Shelf stand={stand} payment={payment} flow={flow} shown={shown} />
        <ItemsVoice stand={stand} shown={shown} />
        <SelectionVoice stand={stand} payment={payment} />
      </section>
      {isPayable(stand) && <Panel stand={stand} payment={payment} flow={flow} />}
    </>
  )
}

const TYPED_INTO = 'input:not([type=radio]), select, textarea'

/** Works only while the focus is in the stand: elsewhere a single key would disturb people who dictate. */
function searchBySlash(event: KeyboardEvent<HTMLElement>): void {
  const { target, currentTarget, key } = event
  if (key !== '/' || (target instanceof Element && target.matches(TYPED_INTO))) return
  event.preventDefault()
  focusSearch(currentTarget)
}

/** False if the inventory failed to load or has no usable item. */
function isPayable({ inventory }: StandState): boolean {
  if (failureOf(inventory) !== null) return false
  return inventory.status !== 'ready' || inventory.inventory.items.length > 0
}

/** The failure on the page. It stays there while a request in the background checks whether it is solved. */
function failureOf(inventory: StandState['inventory']): InventoryFailure | null {
  if (inventory.status === 'error') return inventory.type
  return inventory.status === 'loading' ? (inventory.keptFailure ?? null) : null
}

const LOW_WINDOW = '(max-height: 420px)'

function Shelf({ stand, payment, flow, shown }: StandProps & { shown: ShownItems }) {
  const { texts } = useStandTexts()
  const [measureRoom, room] = useRoom()
  const inventory = shownInventory(stand)
  const { search } = stand
  const { members, found: items } = shown
  const shelf = useRef<HTMLDivElement>(null)
  const keysId = useId()
  const asking = useAsking(stand.question, flow)
  const hasItems = items.length > 0
  // In a very short window, such as one at 400 % zoom, the items would begin below the edge.
  useEffect(() => {
    const element = shelf.current
    if (!hasItems || element === null || !matchMedia(LOW_WINDOW).matches) return
    if (element.getBoundingClientRect().top > innerHeight / 2) element.scrollIntoView()
  }, [hasItems])
  const failure = failureOf(stand.inventory)
  if (failure !== null) return <Trouble failure={failure} stand={stand} payment={payment} flow={flow} />
  if (inventory === null) {
    return (
      <div ref={measureRoom}>
        <Skeletons label={texts.inventoryLoading} />
      </div>
    )
  }
  return (
    // While an offer is open, no other items can be picked.
    <div
      ref={shelf}
      className="shelf"
      aria-busy={stand.inventory.status === 'loading'}
      inert={payment.status === 'pending'}
    >
      {stand.inventory.status === 'loading' && <span className="progress" aria-hidden="true" />}
      {inventory.items.length === 0 && <NothingUsable stand={stand} payment={payment} flow={flow} />}
      {inventory.items.length > 0 && items.length === 0 && (
        <NothingFound inventory={inventory} search={search} flow={flow} />
      )}
      {inventory.items.length > 0 && <Unavailable inventory={inventory} />}
      {items.length > 0 && (
        <Grid
          key={stand.game}
          room={room.current}
          items={items}
          members={members}
          selection={stand.selection}
          currency={payment.currency}
          onToggle={(id) => flow.dispatch({ kind: 'itemToggled', id })}
          onAdd={(ids) => flow.dispatch({ kind: 'itemsAdded', ids })}
          asking={asking}
          keysId={keysId}
        />
      )}
      <span id={keysId} hidden>
        {texts.inventoryKeys}
      </span>
      <WhyPrice id={asking.whyId} question={stand.question} flow={flow} />
      {inventory.items.length === 0 && <Unavailable inventory={inventory} />}
      <Age inventory={inventory} />
    </div>
  )
}

/** Names the accepted games, so a shopper knows why a game is missing. */
function OnlyGames({ payment }: { payment: Payment }) {
  const { texts, language } = useStandTexts()
  const accepted = acceptedGames(payment)
  if (accepted.length === GAMES.length) return null
  const names = accepted.map((game) => texts.games[game])
  return <p className="kept-picks">{texts.onlyGames(new Intl.ListFormat(language).format(names))}</p>
}

/** A trade has items of one game, so picks in another game are kept but not counted. */
function KeptPicks({ stand }: { stand: StandState }) {
  const { texts } = useStandTexts()
  const picksElsewhere = keptPicks(stand)
  if (picksElsewhere.length === 0) return null
  const parts = picksElsewhere.map(({ game, count }) => texts.keptIn(count, texts.games[game]))
  return <p className="kept-picks">{texts.kept(parts.join(', '))}</p>
}
