import type { Game } from '../../contract/games.ts'
import type { Inventory, Payment } from '../../contract/widget-api.ts'
import type { Flow } from '../flow/runner.ts'
import { otherGames } from '../flow/selectors.ts'
import type { InventoryFailure, Stand } from '../flow/state.ts'
import { SteamLink, StoreLink } from '../parts/solution-links.tsx'
import type { SteamPage } from '../steam-pages.ts'
import { focusSearch } from './controls.tsx'
import { useStandTexts } from './texts.ts'
import { unusableItems } from './unusable.ts'

/** The solution to each failure: a page of Steam, another game, or another try. */
const SOLUTIONS: Record<InventoryFailure, SteamPage | 'games' | 'retry'> = {
  internal: 'retry',
  tradeNotAvailable: 'games',
  accountRestricted: 'restrictions',
  hidden: 'privacy',
  escrow: 'guard',
  invalidPartner: 'tradeSettings',
  engineeringWorks: 'retry',
  tooManyLooks: 'retry',
  gameNotAccepted: 'games',
}

type Props = { stand: Stand; payment: Payment; flow: Flow }

/** An inventory that cannot be shown: the reason, and a first button that leads to the solution. */
export function Trouble({ failure, ...props }: Props & { failure: InventoryFailure }) {
  const { texts } = useStandTexts()
  const { title, description } = texts.inventoryErrors[failure]
  const solution = SOLUTIONS[failure]
  const isRetry = solution === 'retry'
  const leadsToGames = solution === 'games' && otherGames(props.stand, props.payment).length > 0
  /** Only another game could help, and the store takes no other, or none of the others has usable items. */
  const isDeadEnd = solution === 'games' && !leadsToGames
  return (
    <div className="empty" role="alert">
      <h2>{title}</h2>
      <p>{description}</p>
      <div className="solutions">
        {leadsToGames && <OtherGames {...props} />}
        {isDeadEnd && <StoreLink url={props.payment.backToStoreUrl} isPrimary />}
        {solution !== 'games' && !isRetry && <SteamLink to={solution} />}
        {failure !== 'gameNotAccepted' && (
          <button
            type="button"
            className={isRetry ? 'button primary' : 'button'}
            onClick={() => props.flow.dispatch({ kind: 'reloadPressed' })}
          >
            {texts.retry}
          </button>
        )}
      </div>
      {!isDeadEnd && <StoreLink url={props.payment.backToStoreUrl} />}
    </div>
  )
}

/** Steam returned the inventory, but none of its items is usable. */
export function NothingUsable(props: Props) {
  const { texts } = useStandTexts()
  const hasOthers = otherGames(props.stand, props.payment).length > 0
  return (
    <div className="empty">
      <h2>{texts.nothingUsable}</h2>
      <p>{hasOthers ? texts.nothingUsableHint : texts.nothingUsableHere}</p>
      <div className="solutions">{hasOthers && <OtherGames {...props} />}</div>
      <StoreLink url={props.payment.backToStoreUrl} isPrimary={!hasOthers} />
    </div>
  )
}

type NothingFoundProps = { inventory: Inventory; search: string; flow: Flow }

/** A search without a result. If it matches items that cannot be used, says why they cannot. */
export function NothingFound({ inventory, search, flow }: NothingFoundProps) {
  const { texts } = useStandTexts()
  const unusable = unusableItems(inventory, search)
  const wanted = search.trim()
  const named = unusable.map(({ name, reason }) => `${name} (${texts.unavailableReasons[reason]})`).join(', ')
  return (
    <div className="empty">
      <h2>{unusable.length === 0 ? texts.nothingFound(wanted) : texts.nothingFoundUsable(wanted, named)}</h2>
      <div className="solutions">
        <button
          type="button"
          className="button primary"
          onClick={({ currentTarget }) => {
            // Moves the focus first, because this button disappears with the message.
            const stand = currentTarget.closest('.stand')
            if (stand !== null) focusSearch(stand)
            flow.dispatch({ kind: 'searchTyped', text: '' })
          }}
        >
          {texts.searchClear}
        </button>
      </div>
    </div>
  )
}

/** The other games that may have usable items, with their number if this page knows it. */
function OtherGames({ stand, payment, flow }: Props) {
  const { texts } = useStandTexts()
  const nameOf = ({ game, count }: { game: Game; count: number | null }): string =>
    count === null ? texts.games[game] : texts.gameCount(texts.games[game], count)
  return otherGames(stand, payment).map((other, index) => (
    <button
      key={other.game}
      type="button"
      className={index === 0 ? 'button primary' : 'button'}
      onClick={() => flow.dispatch({ kind: 'gameChosen', game: other.game })}
    >
      {nameOf(other)}
    </button>
  ))
}
